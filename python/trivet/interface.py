"""What functions of the language have in common (``JITCallable``), and what launchable objects have (``KernelInterface``)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .pickling import PickledByName


class JITCallable(PickledByName):
    """A function that kernels may call: ``fn`` is the Python function."""

    is_compile_time = True
    fn: Callable[..., Any]


class KernelInterface(PickledByName):
    """What can be launched as ``kernel[grid](...)``: ``run`` does the work."""

    run: Callable[..., Any]
    __name__: str

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return functools.partial(self.run, grid=grid, warmup=False)

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compiles for these arguments without running."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"cannot call the @jit function {self.__name__}() directly: launch it with {self.__name__}[grid](...), or call it "
            "from another @jit function"
        )
