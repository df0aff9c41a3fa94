"""``triton._utils``: small functions that programs import although they are not public."""

from __future__ import annotations

from typing import Any

from .language import core
from .runtime.jit import type_canonicalisation_dict

# Elements of a tile at most (docs/bytecode.md has the format's own limits).
TRITON_MAX_TENSOR_NUMEL = 1 << 20


def is_power_of_two(x: int) -> bool:
    """Whether ``x`` is a power of 2; 0 counts."""
    return x & (x - 1) == 0


def is_namedtuple(value: Any) -> bool:
    """Whether ``value`` is a class of named tuples."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def canonicalize_dtype(dtype: Any) -> str:
    """The short name of an element type: ``"fp32"`` for ``torch.float32``, ``"i32"`` for ``"int32"``."""
    name = str(dtype).rsplit(".", 1)[-1]
    return type_canonicalisation_dict[name]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    """The type of a pointer in signatures: ``"*fp32"``, and ``"*kfp32"`` for one that nothing is written through."""
    return f"*{'k' if is_const else ''}{canonicalize_dtype(dtype)}"


def get_primitive_bitwidth(dtype: str) -> int:
    """Bits of an element type given by its short name."""
    from .signatures import parse_type

    found = parse_type(dtype)
    return 64 if found.is_ptr() else found.primitive_bitwidth


def validate_block_shape(shape: list[int]) -> int:
    """The number of elements of a tile.

    Raises:
        TypeError: an extent is no integer.
        ValueError: it has more than ``TRITON_MAX_TENSOR_NUMEL`` elements.
    """
    count = 1
    for axis, extent in enumerate(shape):
        extent = extent.value if isinstance(extent, core.constexpr) else extent
        if not isinstance(extent, int):
            raise TypeError(f"Shape element {axis} must have type `constexpr[int]`, got `{type(extent)}`")
        count *= extent
    if count > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({count}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return count
