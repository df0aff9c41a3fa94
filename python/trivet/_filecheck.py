"""``triton._filecheck``: what Triton's tests of its own front end compile kernels with.

There is no MLIR here, so nothing is compared with the patterns in a kernel's comments: a kernel that compiles skips its test.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def run_parser(
    kernel_fn: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, target: Any = None
) -> Any:
    """Compiles the kernel for these arguments; gives the compiled kernel."""
    options = {name: value for name, value in (kwargs or {}).items() if name != "sanitize_overflow"}
    return kernel_fn.warmup(*args, grid=(1,), **options)


def run_filecheck(name: str, module_str: str, check_template: str) -> None:
    """Skips the test that runs: there is no MLIR to compare."""
    import pytest

    pytest.skip("what is to be checked is MLIR text")


def run_filecheck_test(kernel_fn: Any) -> None:
    """Compiles the kernel, then skips the test that runs: its patterns are for MLIR.

    Raises:
        CompileError: the kernel does not compile.
    """
    import pytest

    run_parser(kernel_fn)
    pytest.skip("compiles; what remains to be checked is MLIR text")


def filecheck_test(fn: Any) -> Callable[[], None]:
    """A test of a kernel without parameters, as ``run_filecheck_test``."""

    @functools.wraps(fn)
    def test_fn() -> None:
        run_filecheck_test(fn)

    return test_fn
