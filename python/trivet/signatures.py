"""Types of arguments: from values at a launch, from text on the command line.

The text form is Triton's: ``*fp32`` (pointer), ``i32``, ``u8``, ``i1`` or ``u1``, ``fp16``, ``bf16``, ``fp8e4nv``, ``**fp32`` (pointer to
pointers), ``*kfp32`` (pointer that nothing is written through). A number or a quoted word stands for a compile-time value.
"""

from __future__ import annotations

import struct
from typing import Any

from .errors import LaunchError
from .language import core

_SHORT = {
    "i1": "int1", "u1": "int1", "B": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "fp16", "f32": "fp32", "f64": "fp64",
}  # fmt: skip


def parse_type(text: str) -> Any:
    """The type that ``text`` spells.

    Raises:
        ValueError: no such type.
    """
    text = text.strip()
    if text.startswith("*"):
        rest = text[1:]
        is_const = rest.startswith("k")
        return core.pointer_type(parse_type(rest[1:] if is_const else rest), const=is_const)
    name = _SHORT.get(text, text)
    try:
        return core.dtype(name)
    except ValueError:
        known = ", ".join(sorted(set(_SHORT) | {"fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5"}))
        raise ValueError(f"unknown type {text!r}; there are {known}, and *TYPE for pointers") from None


_INT32, _INT64, _UINT64 = core.dtype("int32"), core.dtype("int64"), core.dtype("uint64")


def type_of_int(value: int) -> core.dtype:
    """The type a Python integer takes as a run-time argument: i32 if it fits, else i64, else u64."""
    if -(1 << 31) <= value < 1 << 31:
        return _INT32
    if -(1 << 63) <= value < 1 << 63:
        return _INT64
    if 0 <= value < 1 << 64:
        return _UINT64
    raise OverflowError(value)


_FLOAT_FORMATS = {"fp64": "<d", "fp32": "<f", "fp16": "<e"}


def word_of(name: str, value: Any, dtype: Any) -> Any:
    """The bits of a scalar argument as the unsigned 64-bit word that the interpreter takes.

    Raises:
        LaunchError: the value doesn't fit the type.
    """
    if dtype.is_floating():
        if dtype.name == "bf16":
            return _bfloat16_bits(float(value))
        if dtype.name not in _FLOAT_FORMATS:
            raise LaunchError(f"argument '{name}': a scalar can't be {dtype.name}; pass fp32 and convert in the kernel")
        form = _FLOAT_FORMATS[dtype.name]
        try:
            packed = struct.pack(form, float(value))
        except OverflowError:  # larger than the type's greatest value
            packed = struct.pack(form, float("inf") if value > 0 else float("-inf"))
        return int.from_bytes(packed, "little")
    if dtype.is_bool():
        return int(bool(value))
    value = int(value)
    low, high = dtype.get_int_min_value(), dtype.get_int_max_value()
    if not low <= value <= high:
        raise LaunchError(f"argument '{name}': {value} does not fit into {dtype.name} ({low} to {high})")
    return value & ((1 << 64) - 1) & ((1 << dtype.primitive_bitwidth) - 1)


def _bfloat16_bits(value: Any) -> Any:
    bits = int.from_bytes(struct.pack("<f", value), "little")
    if value != value:
        return (bits >> 16) | 0x40
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF
