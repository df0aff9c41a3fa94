"""Comparisons, bitwise operators, shifts, ``not``, ``where``, ``minimum``, ``maximum``, ``clamp``: all types, edge values."""

from __future__ import annotations

import operator as py
from typing import Any

import numpy as np
import pytest
from semantics_support import (
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMPY,
    SIGNED,
    apply,
    as_double,
    assert_same,
    bits_of,
    edges,
    pairs,
)
from test_arithmetic import common_dtype, to_common

import trivet as triton
import trivet.language as tl

# --- comparisons -------------------------------------------------------------------------------------------------------------


@triton.jit
def less(a, b):
    return a < b


@triton.jit
def less_equal(a, b):
    return a <= b


@triton.jit
def greater(a, b):
    return a > b


@triton.jit
def greater_equal(a, b):
    return a >= b


@triton.jit
def equal(a, b):
    return a == b


@triton.jit
def not_equal(a, b):
    return a != b


COMPARISONS = {
    "<": (less, py.lt),
    "<=": (less_equal, py.le),
    ">": (greater, py.gt),
    ">=": (greater_equal, py.ge),
    "==": (equal, py.eq),
    "!=": (not_equal, py.ne),
}


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_comparisons(comparison: str, a: str) -> None:
    function, reference = COMPARISONS[comparison]
    for b in DTYPES:
        x, y = pairs(a, b)
        dtype = common_dtype(a, b, division=False)
        if dtype is None:
            with pytest.raises(triton.errors.CompileError, match="unexpected types"):
                apply(function, "int1", x, y)
            continue
        x_common, y_common = to_common(x, dtype), to_common(y, dtype)
        if dtype in FLOATS:
            x_common, y_common = x_common.astype(np.float64), y_common.astype(np.float64)
        assert_same(apply(function, "int1", x, y), reference(x_common, y_common), a, comparison, b)


@triton.jit
def between(x):
    return (0 < x) & (x <= 7)


@triton.jit
def chained(x):
    return (x < 3) == True  # noqa: E712


@pytest.mark.parametrize("a", ["int8", "uint8", "int64", "float16", "float32"])
def test_comparisons_with_numbers(a: str) -> None:
    x = edges(a)
    assert_same(apply(between, "int1", x), (x > 0) & (x <= 7))
    assert_same(apply(chained, "int1", x), x < 3)


# --- bitwise -----------------------------------------------------------------------------------------------------------------


@triton.jit
def bit_and(a, b):
    return a & b


@triton.jit
def bit_or(a, b):
    return a | b


@triton.jit
def bit_xor(a, b):
    return a ^ b


@triton.jit
def invert(a):
    return ~a


@triton.jit
def logical_not(a):
    return not a


@triton.jit
def shift_left(a, b):
    return a << b


@triton.jit
def shift_right(a, b):
    return a >> b


BITWISE = {"&": (bit_and, py.and_), "|": (bit_or, py.or_), "^": (bit_xor, py.xor)}


@pytest.mark.parametrize("a", ["int1", *INTEGERS])
@pytest.mark.parametrize("operator", BITWISE)
def test_bitwise(operator: str, a: str) -> None:
    function, reference = BITWISE[operator]
    for b in ["int1", *INTEGERS]:
        x, y = pairs(a, b)
        dtype = common_dtype(a, b, division=False)
        assert dtype is not None
        assert_same(apply(function, dtype, x, y), reference(to_common(x, dtype), to_common(y, dtype)), a, operator, b)


@pytest.mark.parametrize("a", ["int1", *INTEGERS])
def test_invert(a: str) -> None:
    assert_same(apply(invert, a, edges(a)), ~edges(a))


@pytest.mark.parametrize("function", [bit_and, bit_or, bit_xor, shift_left, shift_right])
def test_bitwise_refuses_floats(function: Any) -> None:
    for a, b in (("float32", "float32"), ("int32", "float16")):
        with pytest.raises(triton.errors.CompileError):
            apply(function, "int32", *pairs(a, b))


def shifted(left: bool, value: int, count: int, dtype: str) -> int:
    """A shift by a count read as unsigned, as docs/semantics.md#shl has it."""
    width = bits_of(dtype)
    count &= (1 << width) - 1
    if count >= width:
        return -1 if not left and value < 0 else 0
    return value << count if left else value >> count


@pytest.mark.parametrize("a", INTEGERS)
@pytest.mark.parametrize(("function", "left"), [(shift_left, True), (shift_right, False)])
def test_shifts(function: Any, left: bool, a: str) -> None:
    x, y = pairs(a, a)
    width = bits_of(a)
    counts = np.array([0, 1, 2, 3, width // 2, width - 2, width - 1, width, width + 1, 100], a)
    y = np.where(y < 100, counts[np.arange(256) % 10], y)
    want = []
    for value, count in zip(x, y, strict=True):
        exact = shifted(left, int(value), int(count), a) & ((1 << width) - 1)
        want.append(exact - (1 << width) if a in SIGNED and exact >> (width - 1) else exact)
    assert_same(apply(function, a, x, y), np.array(want, a))


@triton.jit
def shifts_by_numbers(a):
    return (a << 3) ^ (a >> 2)


@pytest.mark.parametrize("a", INTEGERS)
def test_shifts_by_numbers(a: str) -> None:
    x = edges(a)
    assert_same(apply(shifts_by_numbers, a, x), (x << np.array(3, a)) ^ (x >> np.array(2, a)))


@triton.jit
def both(a, b):
    return (a > 1).logical_and(b > 1)


@triton.jit
def either(a, b):
    return (a > 1).logical_or(b > 1)


def test_logical_methods() -> None:
    x, y = pairs("int32", "int32")
    assert_same(apply(both, "int1", x, y), (x > 1) & (y > 1))
    assert_same(apply(either, "int1", x, y), (x > 1) | (y > 1))


# --- where -------------------------------------------------------------------------------------------------------------------


@triton.jit
def where(condition, a, b):
    return tl.where(condition, a, b)


@triton.jit
def where_number(condition, a):
    return tl.where(condition, a, 0)


@pytest.mark.parametrize("a", DTYPES)
def test_where(a: str) -> None:
    condition = np.arange(256) % 3 == 0
    x, y = pairs(a, a)
    assert_same(apply(where, a, condition, x, y), np.where(condition, x, y))
    nothing = np.zeros(256, bool)
    assert_same(apply(where, a, nothing, x, y), y)
    if a != "int1":
        zero = np.zeros(256, NUMPY[a])
        assert_same(apply(where_number, a, condition, x), np.where(condition, x, zero))


@pytest.mark.parametrize("a", DTYPES)
def test_where_promotes(a: str) -> None:
    condition = np.arange(256) % 2 == 0
    for b in DTYPES:
        dtype = common_dtype(a, b, division=False)
        if dtype is None:
            continue
        x, y = pairs(a, b)
        want = np.where(condition, to_common(x, dtype), to_common(y, dtype))
        assert_same(apply(where, dtype, condition, x, y), want, a, b)


@triton.jit
def where_integer_condition(c, a):
    return tl.where(c & 4, a, -a)


def test_where_takes_an_integer_for_true_unless_zero() -> None:
    c = np.arange(64, dtype=np.int32)
    x = edges("float32").repeat(4)
    assert_same(apply(where_integer_condition, "float32", c, x), np.where(c & 4, x, 0 - x))


# --- minimum, maximum, clamp --------------------------------------------------------------------------------------------------


@triton.jit
def minimum(a, b):
    return tl.minimum(a, b)


@triton.jit
def maximum(a, b):
    return tl.maximum(a, b)


@triton.jit
def minimum_nan(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def maximum_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def clamp(a, low, high):
    return tl.clamp(a, low, high)


@triton.jit
def clamp_nan(a, low, high):
    return tl.clamp(a, low, high, propagate_nan=tl.PropagateNan.ALL)


def extreme(x: np.ndarray, y: np.ndarray, largest: bool, propagate: bool) -> np.ndarray:
    """IEEE 754-2019 minimumNumber or minimum (and maximum): -0 is smaller than +0."""
    if x.dtype.kind in "iub":
        return np.maximum(x, y) if largest else np.minimum(x, y)
    a, b = x.astype(np.float64), y.astype(np.float64)
    before = (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b))
    result = np.where(before != largest, a, b)
    if propagate:
        result = np.where(np.isnan(a) | np.isnan(b), np.nan, result)
    else:
        result = np.where(np.isnan(a), b, np.where(np.isnan(b), a, result))
    return result.astype(x.dtype)


def extreme_dtype(*dtypes: str) -> str | None:
    """The type that operands of minimum, maximum and clamp meet in: bf16 counts as f32."""
    first, *rest = ("float32" if d == "bfloat16" else d for d in dtypes)
    for other in rest:
        meeting = common_dtype(first, other, division=False)
        if meeting is None:
            return None
        first = meeting
    return first


@pytest.mark.parametrize("a", DTYPES)
def test_minimum_and_maximum(a: str) -> None:
    dtype = extreme_dtype(a, a)
    assert dtype is not None
    operands = pairs(a, a)
    x, y = (to_common(v, dtype) for v in operands)
    assert_same(apply(minimum, dtype, *operands), extreme(x, y, False, False))
    assert_same(apply(maximum, dtype, *operands), extreme(x, y, True, False))
    assert_same(apply(minimum_nan, dtype, *operands), extreme(x, y, False, True))
    assert_same(apply(maximum_nan, dtype, *operands), extreme(x, y, True, True))


@pytest.mark.parametrize("a", DTYPES)
def test_maximum_promotes(a: str) -> None:
    for b in DTYPES:
        dtype = extreme_dtype(a, b)
        if dtype is None:
            continue
        x, y = pairs(a, b)
        want = extreme(to_common(x, dtype), to_common(y, dtype), True, False)
        assert_same(apply(maximum, dtype, x, y), want, a, b)


@pytest.mark.parametrize("a", FLOATS)
@pytest.mark.parametrize(("function", "propagate"), [(clamp, False), (clamp_nan, True)])
def test_clamp(a: str, function: Any, propagate: bool) -> None:
    dtype = extreme_dtype(a, a)
    assert dtype is not None
    operands = (*pairs(a, a), np.roll(edges(a), 3).repeat(16))
    x, low, high = (to_common(v, dtype) for v in operands)
    want = extreme(extreme(x, low, True, propagate), high, False, propagate)
    assert_same(apply(function, dtype, *operands), want)


@triton.jit
def builtin_extremes(a, b):
    return max(a, 0) + min(b, 5)


def test_pythons_min_and_max() -> None:
    x, y = pairs("int32", "int32")
    with np.errstate(all="ignore"):
        assert_same(apply(builtin_extremes, "int32", x, y), np.maximum(x, 0) + np.minimum(y, 5))


def test_as_double_is_exact_enough() -> None:
    """The support module's own rounding to odd: one bit below the cut must be seen."""
    x = np.array([2**62 + 1, -(2**62) - 1, 2**62], np.int64)
    assert (as_double(x)[:2] != 2.0**62).all() and as_double(x)[2] == 2.0**62
