"""The Triton language: ``import trivet.language as tl``."""

from . import _older, aggregate, core, extra, math, random, standard, target_info  # noqa: F401
from .aggregate import RunTimeValue as _run_time_value  # noqa: F401  (for the frontend)
from .core import (
    TRITON_MAX_TENSOR_NUMEL,
    PropagateNan,
    block_type,
    const,
    constexpr,
    constexpr_type,
    dtype,
    pi32_t,
    pointer_type,
    tensor,
    tensor_descriptor,
    tuple_type,  # noqa: F401
    void,
)

__all__ = [
    "PropagateNan", "TRITON_MAX_TENSOR_NUMEL", "block_type", "const", "constexpr", "constexpr_type", "core", "dtype", "extra", "math", "pi32_t", "pointer_type", "random",
    "libdevice", "standard", "target_info", "tensor", "tensor_descriptor", "void",
]  # fmt: skip


def _export(namespace):
    """Public names of the library modules, and the operations of core, become members of the language."""
    for module in (core, standard, random):
        for name, value in vars(module).items():
            is_language = isinstance(value, (core.Builtin, core.dtype)) or type(value).__name__ == "JITFunction"
            if is_language and (not name.startswith("_") or name.startswith("_experimental_")):
                namespace[name] = value
                if name not in __all__:
                    __all__.append(name)


_export(globals())
tuple = core.tuple  # type: ignore[attr-defined]
aggregate_replace = core.aggregate_replace  # type: ignore[attr-defined]
__all__.append("tuple")
libdevice = extra.libdevice  # where older releases had it


def str_to_ty(name):
    """The type that a signature string spells: ``"*fp32"``, ``"i32"``, ``"fp16"``, ``"u1"``."""
    from ..signatures import parse_type

    return parse_type(name)
