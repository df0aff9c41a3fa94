"""``triton.compiler.errors``."""

from ..errors import CompileError, CompileTimeAssertionFailure, TritonError

CompilationError = CompileError


class UnsupportedLanguageConstruct(CompileError):
    """A part of Python that kernels can't use."""


__all__ = ["CompilationError", "CompileTimeAssertionFailure", "TritonError", "UnsupportedLanguageConstruct"]
