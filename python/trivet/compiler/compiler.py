"""``triton.compiler.compiler``: where programs and PyTorch look for what ``triton.compiler`` has."""

from ..version import TRIVET_VERSION
from . import ASTSource, CompilationError, CompiledKernel, compile

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "compile", "triton_key"]


def triton_key():
    """A text that changes with the compiler, for keys of caches."""
    return f"trivet-{TRIVET_VERSION}"
