"""``triton.runtime.jit``: where programs written for Triton look for ``JITFunction`` and its relatives."""

import inspect
from typing import Any

from .. import knobs
from ..compile_time import ConstexprFunction
from ..jit import (
    CompiledKernel,
    JITCallable,
    JITFunction,
    KernelInterface,
    KernelParam,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    jit,
    reinterpret,
)

# Spellings of element types, and the short ones of signatures.
type_canonicalisation_dict = {
    "bool": "u1", "int1": "u1", "uint1": "u1", "i1": "u1", "float8e4nv": "fp8e4nv", "float8_e4m3fn": "fp8e4nv",
    "float8e5": "fp8e5", "float8_e5m2": "fp8e5", "float8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16",
    "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int": "i32", **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}, **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    "void": "void",
}  # fmt: skip
type_canonicalisation_dict.update({short: short for short in list(type_canonicalisation_dict.values())})


def get_full_name(fn: Any) -> str:
    """``module.name`` of a function."""
    return f"{fn.__module__}.{fn.__qualname__}"


def get_jit_fn_file_line(fn: Any) -> tuple[str, int]:
    """The file of a ``@jit`` function, and the line of its ``def``."""
    while hasattr(fn, "fn"):
        fn = fn.fn
    lines, first = inspect.getsourcelines(fn)
    to_def = next((i for i, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    return fn.__code__.co_filename, first + to_def


def mangle_type(argument: Any, specialize: bool = False) -> str:
    """The type of an argument as signatures spell it: ``"*fp32"`` for a tensor, ``"i32"`` for 7, ``"constexpr"`` for 1 and None.

    Args:
        specialize: whether 1 counts as a compile-time value, as it does in Triton's signatures.
    """
    from ..arguments import converter_of

    if specialize and argument == 1 and isinstance(argument, int) and not isinstance(argument, bool):
        return "constexpr"
    key = converter_of(argument)("", argument, "").key
    if key[0] == "s":
        return type_canonicalisation_dict.get(key[1], key[1])
    return "*" + type_canonicalisation_dict.get(key[1][8:-1], key[1][8:-1]) if key[0] == "p" else "constexpr"


__all__ = ["CompiledKernel", "ConstexprFunction", "JITCallable", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "TensorWrapper",
           "constexpr_function", "get_full_name", "get_jit_fn_file_line", "jit", "knobs", "mangle_type", "reinterpret", "type_canonicalisation_dict"]  # fmt: skip
