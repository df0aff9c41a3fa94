"""``triton.compiler.errors``."""

from ..errors import CompileError

CompilationError = CompileError


class CompileTimeAssertionFailure(CompileError):
    """A ``static_assert`` did not hold."""


class UnsupportedLanguageConstruct(CompileError):
    """A part of Python that kernels can't use."""
