"""``triton.compiler.errors``."""

from ..errors import CompileError, CompileTimeAssertionFailure

CompilationError = CompileError


class UnsupportedLanguageConstruct(CompileError):
    """A part of Python that kernels can't use."""


__all__ = ["CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"]
