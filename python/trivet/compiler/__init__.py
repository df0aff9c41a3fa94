"""``triton.compiler``: compiling without launching."""

from __future__ import annotations

from typing import Any

from ..jit import CompiledKernel, Typed
from .errors import CompilationError

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "compile"]


class ASTSource:
    """A kernel with its signature and compile-time values.

    Args:
        fn: the ``@jit`` function.
        signature: by parameter name, a type as text (``"*fp32"``, ``"i32"``) or ``"constexpr"``.
        constexprs: values of compile-time parameters, by name or position.
        attrs: facts about arguments (alignment); they don't change the bytecode.
    """

    def __init__(self, fn: Any, signature: Any, constexprs: Any = None, attrs: Any = None) -> None:
        self.fn = fn
        self.ext = "ttir"
        self.name = fn.__name__
        self.signature = signature
        self.constants = {}
        for key, value in (constexprs or {}).items():
            if isinstance(key, tuple):
                key = key[0]
            self.constants[fn.arg_names[key] if isinstance(key, int) else key] = value
        self.attrs = attrs or {}


def compile(src: Any, target: Any = None, options: Any = None) -> Any:
    """Compiles an ``ASTSource``, or reads a bytecode file given by its path. Gives a ``CompiledKernel``."""
    from .. import _trivet, signatures

    if isinstance(src, ASTSource):
        arguments = {}
        for name in src.fn.arg_names:
            kind = src.signature.get(name, "constexpr")
            if name in src.constants or kind == "constexpr":
                arguments[name] = src.constants.get(name)
            else:
                arguments[name] = Typed(signatures.parse_type(kind))
        known = {k: v for k, v in (options or {}).items() if isinstance(v, (bool, int, float, str))}
        return src.fn.warmup(grid=(1,), **arguments, **known)
    with open(src, "rb") as file:
        return CompiledKernel(None, _trivet.read(file.read()), [])
