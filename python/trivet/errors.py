"""The exceptions of Trivet.

``CompileError`` is the author's program at compile time, ``LaunchError`` a wrong call, ``KernelError`` a fault of a running kernel.
"""

from __future__ import annotations

from typing import Any


class TrivetError(Exception):
    """Base of all errors that Trivet raises on purpose."""


class CompileError(TrivetError):
    """A kernel can't be compiled.

    Attributes:
        diagnostics: list of ``(file, line, column, message, text)``; ``text`` is what ``str(error)`` shows.
    """

    def __init__(self, diagnostics: Any, kernel: str = "kernel") -> None:
        self.diagnostics = list(diagnostics)
        self.kernel = kernel
        texts = [d[4] for d in self.diagnostics]
        # The first message alone, for programs that look at the cause as Triton reports it.
        self.error_message = self.diagnostics[0][3] if self.diagnostics else ""
        super().__init__("\n\n".join(texts) if texts else f"{kernel} can't be compiled")

    def __reduce__(self) -> tuple[type, tuple[list[tuple[str, int, int, str, str]], str]]:
        return type(self), (self.diagnostics, self.kernel)


class CompileTimeAssertionFailure(CompileError):
    """The first thing wrong with a kernel is a ``static_assert`` that does not hold."""


class UnsupportedSourceError(TrivetError, OSError):
    """The source of a function can't be read: it was typed into a prompt or made by ``exec``."""


class LaunchError(TrivetError, TypeError):
    """Wrong arguments or grid in a launch."""


class TierRefusal(TrivetError):
    """A tier can't run a kernel, and the next tier down is to. Nothing of the launch has run.

    Attributes:
        reason: what it can't do.
        op, location: the bytecode op and the source line that ask for it; '' if it is the kernel as a whole.
    """

    def __init__(self, reason: str, op: str = "", location: str = "") -> None:
        self.reason, self.op, self.location = reason, op, location
        where = f"{location}: " if location else ""
        what = f"{op}: " if op else ""
        super().__init__(f"{where}{what}{reason}")

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.reason, self.op, self.location)


class KernelError(TrivetError, RuntimeError):
    """A running kernel did something wrong; the message names kernel, line, program and, for memory, tensor and index."""


class OutOfBoundsError(KernelError, IndexError):
    """A kernel touched memory outside every tensor it was given."""


class KernelAssertionError(KernelError, AssertionError):
    """``tl.device_assert``, ``assert`` or ``tl.assume`` did not hold."""


class DeadlockError(KernelError):
    """Programs wait for each other for ever."""


# Triton's name for the base of its errors.
TritonError = TrivetError
