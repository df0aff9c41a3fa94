"""Numbers written in a kernel, beside tiles of every type.

Comparisons, ``minimum``, ``maximum``, ``clamp`` and ``fma`` give a number the type it has on its own (i32, f32, ...), and the two
meet as two tiles would. Arithmetic makes it adapt to the tile instead. docs/semantics.md#promotion has both rules; the tables
here were compared with what Triton 3.6 computes on an H200.
"""

from __future__ import annotations

import math
import operator as py
from typing import Any

import numpy as np
import pytest
from semantics_support import DTYPES, FLOATS, FP8, INTEGERS, NUMPY, SIGNED, assert_same, bits_of, edges, language_dtype
from test_arithmetic import common_dtype, on_floats, to_common
from test_compare_and_select import extreme, extreme_dtype

import trivet as triton
import trivet.language as tl

INF, NAN = math.inf, math.nan

# The type that each number has on its own.
NUMBERS: list[tuple[Any, str]] = [
    (True, "int1"),
    (False, "int1"),
    (0, "int32"),
    (-3, "int32"),
    (300, "int32"),
    (70000, "int32"),
    (-(2**31), "int32"),
    (3000000000, "uint32"),
    (5000000000, "int64"),
    (-(2**63), "int64"),
    (2**63, "uint64"),
    (0.0, "float32"),
    (-0.0, "float32"),
    (0.1, "float32"),
    (2.5, "float32"),
    (1e-40, "float64"),  # f32 holds it as a subnormal only
    (1e40, "float64"),
    (INF, "float32"),
    (NAN, "float32"),
]
IDS = [repr(number) for number, _ in NUMBERS]
CASES = pytest.mark.parametrize(("number", "own"), NUMBERS, ids=IDS)


def test_the_table_names_every_type_a_number_can_have() -> None:
    assert {own for _, own in NUMBERS} == {"int1", "int32", "uint32", "int64", "uint64", "float32", "float64"}


@triton.jit
def own_type(x_ptr, out_ptr, NUMBER: tl.constexpr, DTYPE: tl.constexpr):
    value = tl.to_tensor(NUMBER)
    tl.static_assert(value.dtype == DTYPE)
    tl.store(out_ptr, value)


@CASES
def test_type_of_a_number(number: Any, own: str) -> None:
    out = np.zeros(1, NUMPY[own])
    own_type[(1,)](out, out, NUMBER=number, DTYPE=language_dtype(own))
    assert_same(out, np.array([number]).astype(NUMPY[own]))


# --- comparisons -------------------------------------------------------------------------------------------------------------


@triton.jit
def compare(x_ptr, out_ptr, NUMBER: tl.constexpr):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x < NUMBER)
    tl.store(out_ptr + 16 + i, x <= NUMBER)
    tl.store(out_ptr + 32 + i, x > NUMBER)
    tl.store(out_ptr + 48 + i, x >= NUMBER)
    tl.store(out_ptr + 64 + i, x == NUMBER)
    tl.store(out_ptr + 80 + i, x != NUMBER)
    tl.store(out_ptr + 96 + i, NUMBER < x)
    tl.store(out_ptr + 112 + i, NUMBER == x)


COMPARISONS = [py.lt, py.le, py.gt, py.ge, py.eq, py.ne, lambda x, n: n < x, lambda x, n: n == x]


@pytest.mark.parametrize("a", DTYPES)
@CASES
def test_comparison(number: Any, own: str, a: str) -> None:
    x, out = edges(a), np.zeros(128, bool)
    dtype = common_dtype(a, own, division=False)
    if dtype is None:
        with pytest.raises(triton.errors.CompileError, match="unexpected types"):
            compare[(1,)](x, out, NUMBER=number)
        return
    compare[(1,)](x, out, NUMBER=number)
    in_common = [to_common(v, dtype) for v in (x, np.array([number]).astype(NUMPY[own]))]
    if dtype in FLOATS:
        in_common = [v.astype(np.float64) for v in in_common]
    assert_same(out, np.concatenate([reference(*in_common) for reference in COMPARISONS]))


def test_a_number_is_not_rounded_to_the_tile() -> None:
    """What rounding 0.1 to the tile's type, or wrapping 300 to it, would get wrong."""
    out = np.zeros(128, bool)
    compare[(1,)](np.full(16, 0.1, NUMPY["bfloat16"]), out, NUMBER=0.1)
    assert out[32:48].all(), "bf16(0.1) is above f32(0.1)"
    compare[(1,)](np.full(16, 44, np.int8), out, NUMBER=300)
    assert out[:16].all() and not out[64:80].any()
    compare[(1,)](np.full(16, 0.1, np.float64), out, NUMBER=0.1)
    assert out[:16].all(), "the number is f32(0.1), above the double"


# --- minimum, maximum, clamp, fma ----------------------------------------------------------------------------------------------


@triton.jit
def maximum_with(x_ptr, out_ptr, NUMBER: tl.constexpr, DTYPE: tl.constexpr):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i)
    larger, smaller = tl.maximum(x, NUMBER), tl.minimum(NUMBER, x)
    tl.static_assert(larger.dtype == DTYPE)
    tl.static_assert(smaller.dtype == DTYPE)
    tl.store(out_ptr + i, larger)
    tl.store(out_ptr + 16 + i, smaller)


@pytest.mark.parametrize("a", DTYPES)
@CASES
def test_minimum_and_maximum(number: Any, own: str, a: str) -> None:
    x = edges(a)
    dtype = extreme_dtype(a, own)
    if dtype is None:
        with pytest.raises(triton.errors.CompileError, match="unexpected types"):
            maximum_with[(1,)](x, np.zeros(32, np.int8), NUMBER=number, DTYPE=tl.int8)
        return
    out = np.zeros(32, NUMPY[dtype])
    maximum_with[(1,)](x, out, NUMBER=number, DTYPE=language_dtype(dtype))
    n = to_common(np.full(16, number).astype(NUMPY[own]), dtype)
    common = to_common(x, dtype)
    assert_same(out, np.concatenate([extreme(common, n, True, False), extreme(n, common, False, False)]))


@triton.jit
def both_numbers(out_ptr, A: tl.constexpr, B: tl.constexpr, DTYPE: tl.constexpr):
    larger, smaller = tl.maximum(A, B), tl.minimum(A, B)
    tl.static_assert(larger.dtype == DTYPE)
    tl.static_assert(smaller.dtype == DTYPE)
    tl.store(out_ptr, larger)
    tl.store(out_ptr + 1, smaller)


@CASES
def test_minimum_and_maximum_of_two_numbers(number: Any, own: str) -> None:
    for other, own_other in NUMBERS:
        dtype = extreme_dtype(own, own_other)
        assert dtype is not None
        out = np.zeros(2, NUMPY[dtype])
        both_numbers[(1,)](out, A=number, B=other, DTYPE=language_dtype(dtype))
        x = to_common(np.array([number]).astype(NUMPY[own]), dtype)
        y = to_common(np.array([other]).astype(NUMPY[own_other]), dtype)
        assert_same(out, np.concatenate([extreme(x, y, True, False), extreme(x, y, False, False)]), number, other)


@triton.jit
def shape_from_maximum(out_ptr, A: tl.constexpr, B: tl.constexpr):
    N: tl.constexpr = tl.maximum(A, B)
    tl.static_assert(tl.minimum(A, B) == 2)
    ZERO: tl.constexpr = min(2.5, 0, 3)  # Python's own give constants, not tiles
    tl.store(out_ptr + tl.arange(0, tl.maximum(A, B)), tl.zeros([N], tl.float32) + tl.arange(ZERO, max(A, B)))


def test_the_extreme_of_two_numbers_is_known_while_compiling() -> None:
    out = np.zeros(8, np.float32)
    shape_from_maximum[(1,)](out, A=8, B=2)
    assert out.tolist() == list(range(8))


@triton.jit
def clamp_between(x_ptr, out_ptr, LOW: tl.constexpr, HIGH: tl.constexpr, DTYPE: tl.constexpr):
    i = tl.arange(0, 16)
    result = tl.clamp(tl.load(x_ptr + i), LOW, HIGH)
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize(
    ("low", "own_low", "high", "own_high"),
    [
        (0.0, "float32", 6.0, "float32"),
        (0.1, "float32", 3, "int32"),
        (-1, "int32", 2.7, "float32"),
        (0, "int32", 5, "int32"),
        (0.1, "float32", 1e40, "float64"),
        (True, "int1", 300, "int32"),
    ],
)
def test_clamp(low: Any, own_low: str, high: Any, own_high: str, a: str) -> None:
    x = edges(a)
    bounds = extreme_dtype(own_low, own_high)
    assert bounds is not None
    dtype = extreme_dtype(a, bounds)
    if dtype is None:
        with pytest.raises(triton.errors.CompileError, match="unexpected types"):
            clamp_between[(1,)](x, np.zeros(16, np.int8), LOW=low, HIGH=high, DTYPE=tl.int8)
        return
    out = np.zeros(16, NUMPY[dtype])
    clamp_between[(1,)](x, out, LOW=low, HIGH=high, DTYPE=language_dtype(dtype))
    a_low = to_common(to_common(np.full(16, low).astype(NUMPY[own_low]), bounds), dtype)
    a_high = to_common(to_common(np.full(16, high).astype(NUMPY[own_high]), bounds), dtype)
    assert_same(out, extreme(extreme(to_common(x, dtype), a_low, True, False), a_high, False, False))


@triton.jit
def fma_with(x_ptr, out_ptr, NUMBER: tl.constexpr, DTYPE: tl.constexpr):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i)
    last, first = tl.fma(x, x, NUMBER), tl.fma(NUMBER, x, x)
    tl.static_assert(last.dtype == DTYPE)
    tl.static_assert(first.dtype == DTYPE)
    tl.store(out_ptr + i, last)
    tl.store(out_ptr + 16 + i, first)


@pytest.mark.parametrize(
    ("a", "number", "dtype"),
    [
        ("float16", 0.1, "float32"),
        ("bfloat16", 0.1, "float32"),
        ("float32", 0.1, "float32"),
        ("float64", 0.1, "float64"),
        ("float16", 3, "float16"),
        ("bfloat16", 3, "float32"),
        ("float32", 3, "float32"),
        ("float64", 3, "float64"),
        ("int8", 0.1, "float32"),
        ("uint16", 0.1, "float32"),
        ("int1", 0.1, "float32"),
    ],
)
def test_fma(a: str, number: Any, dtype: str) -> None:
    """Small operands, for which float64 holds products and sums exactly; f64 has few bits set."""
    small = np.array([0, 1, 2, 3, 5, 7, 8, 11, 16, 17, 21, 32, 64, 65, 100, 127])
    x = (small if a in INTEGERS or a == "int1" else small / 8 - 3).astype(NUMPY[a])
    out = np.zeros(32, NUMPY[dtype])
    fma_with[(1,)](x, out, NUMBER=number, DTYPE=language_dtype(dtype))
    wide = x.astype(np.float64)
    n = float(np.float32(number))
    want = to_common(np.concatenate([wide * wide + n, n * wide + wide]), dtype)
    assert_same(out, want)


# --- arithmetic: a number adapts -----------------------------------------------------------------------------------------------


@triton.jit
def add_number(x_ptr, out_ptr, NUMBER: tl.constexpr, DTYPE: tl.constexpr):
    i = tl.arange(0, 16)
    result = tl.load(x_ptr + i) + NUMBER
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


KINDS = {"int1": 0, **dict.fromkeys(INTEGERS, 1), **dict.fromkeys(FLOATS, 2)}


@pytest.mark.parametrize("a", DTYPES)
@CASES
def test_arithmetic_type(number: Any, own: str, a: str) -> None:
    """The tile's type if the number's kind is not higher; a number that this type does not hold is an error."""
    x = edges(a)
    dtype = a if KINDS[own] <= KINDS[a] else common_dtype(a, own, division=False)
    assert dtype is not None
    limits = (0, 1) if dtype == "int1" else (0, 2 ** bits_of(dtype) - 1)
    if dtype in SIGNED:
        limits = (-(2 ** (bits_of(dtype) - 1)), 2 ** (bits_of(dtype) - 1) - 1)
    if dtype not in FLOATS and not limits[0] <= number <= limits[1]:
        with pytest.raises(triton.errors.CompileError, match="out of range|meets an unsigned tile"):
            add_number[(1,)](x, np.zeros(16, NUMPY[dtype]), NUMBER=number, DTYPE=language_dtype(dtype))
        return
    add_number[(1,)](x, np.zeros(16, NUMPY[dtype]), NUMBER=number, DTYPE=language_dtype(dtype))


@triton.jit
def divide_by_number(x_ptr, out_ptr, NUMBER: tl.constexpr, DTYPE: tl.constexpr):
    i = tl.arange(0, 16)
    result = tl.load(x_ptr + i) / NUMBER
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@pytest.mark.parametrize("a", [d for d in DTYPES if d not in FP8])
@CASES
def test_division_type(number: Any, own: str, a: str) -> None:
    """As in other arithmetic, but half precision divides in f32, and two integers of one signedness divide in f32 too."""
    adapts = KINDS[own] <= KINDS[a]
    dtype = a if adapts else common_dtype(a, own, division=True)
    if dtype in ("float16", "bfloat16"):
        dtype = "float32"
    x, out = edges(a), np.zeros(16, NUMPY["float64"])
    limits = (0, 1) if a == "int1" else (0, 2 ** bits_of(a) - 1)
    if a in SIGNED:
        limits = (-(2 ** (bits_of(a) - 1)), 2 ** (bits_of(a) - 1) - 1)
    refused = dtype is None or (dtype == a and a not in FLOATS and not limits[0] <= number <= limits[1])
    if refused:
        with pytest.raises(
            triton.errors.CompileError, match="out of range|meets an unsigned tile|different signedness"
        ):
            divide_by_number[(1,)](x, out, NUMBER=number, DTYPE=tl.float32)
        return
    assert dtype is not None
    result = dtype if dtype in FLOATS else "float32"
    out = out.astype(NUMPY[result])
    divide_by_number[(1,)](x, out, NUMBER=number, DTYPE=language_dtype(result))
    n = to_common(
        np.full(16, number).astype(NUMPY[own] if not adapts else np.float64 if dtype in FLOATS else NUMPY[a]), dtype
    )
    assert_same(out, on_floats("/", *(to_common(to_common(v, dtype), result) for v in (x, n)), result))


@triton.jit
def negate_literals(out_ptr, x):
    tl.store(out_ptr, -x)
    tl.store(out_ptr + 1, -tl.full((), 0.0, tl.float32))
    tl.store(out_ptr + 2, -tl.full((), -0.0, tl.float32))
    tl.store(out_ptr + 3, -0.0)
    tl.store(out_ptr + 4, -(tl.zeros((), tl.float32) + x))


def test_minus_is_zero_minus() -> None:
    """So minus +0 is +0; a literal -0.0 is Python's."""
    out = np.ones(5, np.float32)
    negate_literals[(1,)](out, 0.0)
    assert np.signbit(out).tolist() == [False, False, False, True, False]
    assert (out == 0).all()
