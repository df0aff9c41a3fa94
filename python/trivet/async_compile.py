"""Compiling many kernels at once: ``with AsyncCompileMode(executor): kernel.warmup(...)``.

Within the block ``warmup`` hands its compilation to the executor and gives a ``FutureKernel``; the block ends when all are done.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from types import TracebackType
from typing import Any

# The mode of the block that runs, of each thread and task its own.
active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("trivet_async_compile_mode", default=None)


class FutureKernel:
    """A kernel that is being compiled."""

    def __init__(self, finalize_compile: Callable[[Any], None], future: Future[Any]) -> None:
        self.finalize_compile = finalize_compile
        self.future = future
        self.kernel: Any = None

    def result(self, ignore_errors: bool = False) -> Any:
        """Waits, and gives the ``CompiledKernel``; None if its compilation failed and errors are ignored.

        Raises:
            CompileError: as the compilation did, unless ``ignore_errors``.
        """
        if self.kernel is None:
            try:
                kernel = self.future.result()
            except Exception:
                if ignore_errors:
                    return None
                raise
            self.finalize_compile(kernel)
            self.kernel = kernel
        return self.kernel

    def __getattr__(self, name: str) -> Any:
        """What the kernel has, waiting for it."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)


class AsyncCompileMode:
    """A block within which ``warmup`` compiles in an executor.

    Args:
        executor: of ``concurrent.futures``; threads, since kernels are compiled in this process.
        ignore_errors: whether kernels that can't be compiled are passed over when the block ends.
    """

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.futures: dict[Hashable, FutureKernel] = {}

    def submit(self, key: Hashable, compile_fn: Callable[[], Any], finalize_fn: Callable[[Any], None]) -> FutureKernel:
        """The kernel of this key, whose compilation is begun if it isn't yet; ``finalize_fn`` takes it when it is done."""
        if key not in self.futures:
            self.futures[key] = FutureKernel(finalize_fn, self.executor.submit(compile_fn))
        return self.futures[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("another AsyncCompileMode is active")
        active_mode.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        active_mode.set(None)
        for future in self.futures.values():
            future.result(self.ignore_errors or kind is not None)
