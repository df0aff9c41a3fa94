"""``+ - * / // %`` on every pair of element types: the type of the result, and every pair of edge values."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from semantics_support import (
    DTYPES,
    FLOATS,
    FORMATS,
    FP8,
    INTEGERS,
    NUMPY,
    SIGNED,
    apply,
    as_double,
    assert_same,
    bits_of,
    edges,
    pairs,
    round_to,
)

import trivet as triton
import trivet.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def sub(a, b):
    return a - b


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def div(a, b):
    return a / b


@triton.jit
def floordiv(a, b):
    return a // b


@triton.jit
def mod(a, b):
    return a % b


OPERATORS = {"+": add, "-": sub, "*": mul, "/": div, "//": floordiv, "%": mod}


# --- the reference -----------------------------------------------------------------------------------------------------------


def common_dtype(a: str, b: str, division: bool) -> str | None:
    """The type that two tiles meet in, by "Triton Semantics" in Triton's documentation; None if they don't."""
    names = {a, b}
    for wide in ("float64", "float32"):
        if wide in names:
            return wide
    if "float16" in names:
        return "float32" if division else "float16"
    if "bfloat16" in names:
        return "bfloat16" if names == {"bfloat16"} and not division else "float32"
    if a in FP8 and b in FP8:
        return a if a == b else "float16"
    if a in FP8 or b in FP8:
        return None
    signed_a, signed_b = a in SIGNED, b in SIGNED
    if division and signed_a != signed_b:
        return None
    if signed_a == signed_b:
        return max(a, b, key=bits_of)
    signed, unsigned = (a, b) if signed_a else (b, a)
    return unsigned if bits_of(unsigned) >= bits_of(signed) else signed


def to_common(values: np.ndarray, dtype: str) -> np.ndarray:
    """Operands converted to the type that they meet in."""
    if dtype == "float64" or dtype not in FORMATS or values.dtype == NUMPY[dtype]:
        return values.astype(NUMPY[dtype])
    return round_to(as_double(values), dtype)


def on_floats(operator: str, x: np.ndarray, y: np.ndarray, dtype: str) -> np.ndarray:
    """The exact result rounded once. float64 holds enough bits of what is then rounded to at most 24."""
    native = x.dtype if dtype in ("float32", "float64") else np.dtype(np.float64)
    x, y = x.astype(native), y.astype(native)
    with np.errstate(all="ignore"):
        result = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.fmod}[operator](x, y)
    return result if result.dtype == NUMPY[dtype] else round_to(result, dtype, saturate=dtype in FP8)


def truncated(operator: str, x: int, y: int, dtype: str) -> int:
    """Integer division towards zero, with the results that docs/semantics.md gives to a zero divisor."""
    if y == 0:
        return -1
    quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
    return quotient if operator == "//" else x - quotient * y


def on_integers(operator: str, x: np.ndarray, y: np.ndarray, dtype: str) -> np.ndarray:
    """Modulo 2^width, by Python's unbounded integers."""
    results = []
    for a, b in zip(x.astype(object), y.astype(object), strict=True):
        a, b = int(a), int(b)
        exact = (
            {"+": a + b, "-": a - b, "*": a * b}[operator] if operator in "+-*" else truncated(operator, a, b, dtype)
        )
        exact &= (1 << bits_of(dtype)) - 1
        if dtype in SIGNED and exact >> (bits_of(dtype) - 1):
            exact -= 1 << bits_of(dtype)
        results.append(exact)
    return np.array(results, NUMPY[dtype])


def expected(operator: str, x: np.ndarray, y: np.ndarray, a: str, b: str) -> tuple[str, np.ndarray] | None:
    """Result type and values; None where the language refuses the pair."""
    dtype = common_dtype(a, b, operator in ("/", "//", "%"))
    if operator == "/" and dtype is not None and dtype not in FORMATS:
        dtype = "float32"
    if dtype is None or (operator == "//" and dtype in FORMATS) or (operator in ("//", "%") and dtype == "int1"):
        return None
    x, y = to_common(x, dtype), to_common(y, dtype)
    return dtype, on_floats(operator, x, y, dtype) if dtype in FORMATS else on_integers(operator, x, y, dtype)


# --- tiles with tiles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_pairs_of_types(operator: str, a: str) -> None:
    for b in DTYPES:
        x, y = pairs(a, b)
        want = expected(operator, x, y, a, b)
        if want is None:
            with pytest.raises(triton.errors.CompileError):
                apply(OPERATORS[operator], "float32", x, y)
        else:
            assert_same(apply(OPERATORS[operator], want[0], x, y), want[1], a, operator, b)


@pytest.mark.parametrize("a", FP8)
@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "%"])
def test_every_pair_of_fp8_values(operator: str, a: str) -> None:
    codes = np.arange(256, dtype=np.uint8).view(NUMPY[a])
    for part in np.split(codes, 8):
        x, y = np.repeat(part, 256), np.tile(codes, 32)
        assert_same(apply(OPERATORS[operator], a, x, y), on_floats(operator, x, y, a), a, operator)


@pytest.mark.parametrize(
    ("operator", "a", "b", "message"),
    [
        ("/", "int32", "uint32", "different signedness"),
        ("%", "uint8", "int8", "different signedness"),
        ("+", "int32", "float8e5", "unexpected types"),
        ("//", "float32", "float32", "//"),
    ],
)
def test_refusals_say_why(operator: str, a: str, b: str, message: str) -> None:
    with pytest.raises(triton.errors.CompileError, match=re.escape(message)):
        apply(OPERATORS[operator], "float32", *pairs(a, b))


# --- tiles with numbers -------------------------------------------------------------------------------------------------------


@triton.jit
def plus_one(a):
    return a + 1


@triton.jit
def half_of(a):
    return 0.5 * a


@triton.jit
def plus_true(a):
    return a + True


@triton.jit
def divided(a):
    return a / 2


@triton.jit
def minus_from(a):
    return 1 - a


@pytest.mark.parametrize("a", DTYPES)
def test_numbers_take_the_type_of_the_tile(a: str) -> None:
    x = edges(a)
    one = np.ones_like(x)
    if a in FORMATS:
        for function, operator, y in ((plus_one, "+", 1.0), (half_of, "*", 0.5), (plus_true, "+", 1.0)):
            want = on_floats(operator, x, np.full(16, y).astype(x.dtype), a)
            assert_same(apply(function, a, x), want, a, operator)
        dtype = "float32" if a in ("float16", "bfloat16") else a
        want = on_floats("/", to_common(x, dtype), np.full(16, 2.0).astype(NUMPY[dtype]), dtype)
        assert_same(apply(divided, dtype, x), want, a)
        assert_same(apply(minus_from, a, x), on_floats("-", one, x, a), a)
        return
    # An integer is of a higher kind than a tile of i1, a float than any tile of integers.
    dtype = "int32" if a == "int1" else a
    assert_same(apply(plus_one, dtype, x), on_integers("+", x.astype(NUMPY[dtype]), one.astype(NUMPY[dtype]), dtype), a)
    assert_same(
        apply(minus_from, dtype, x), on_integers("-", one.astype(NUMPY[dtype]), x.astype(NUMPY[dtype]), dtype), a
    )
    as_f32 = round_to(as_double(x), "float32")
    assert_same(apply(half_of, "float32", x), as_f32 * np.float32(0.5), a)
    if a in INTEGERS:
        assert_same(apply(plus_true, a, x), on_integers("+", x, one, a), a)


@triton.jit
def _scalar_kernel(out_ptr, a, b, F: tl.constexpr, DTYPE: tl.constexpr):
    result = F(a, b)
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr, result)


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        (3, 4, "int32"),
        (1 << 31, 4, "int64"),  # an argument that does not fit is i64, then u64
        (1 << 40, 4, "int64"),
        (3, 2.5, "float32"),
        (-7, 2, "int32"),
        (1 << 63, 1, "uint64"),
    ],
)
def test_scalar_arguments(a: Any, b: Any, dtype: str) -> None:
    for operator in ("+", "-", "*", "//", "%"):
        if operator == "//" and dtype == "float32":
            continue
        if operator in ("//", "%") and dtype.startswith("u"):
            continue  # the other operand is signed
        out = np.zeros(1, NUMPY[dtype])
        # Division rounds towards zero, as in C.
        _scalar_kernel[(1,)](out, a, b, F=OPERATORS[operator], DTYPE=getattr(tl, dtype))
        if dtype == "float32":
            want = on_floats(operator, np.array([a], dtype), np.array([b], dtype), dtype)
        else:
            want = on_integers(operator, np.array([a], object), np.array([b], object), dtype)
        assert_same(out, want, operator, a, b)


@triton.jit
def _constant_kernel(out_ptr):
    """Numbers fold as Python folds them; only their use with a tile gives them a type."""
    tl.static_assert(7 // 2 == 3)
    tl.static_assert(-7 // 2 == -4)
    tl.static_assert(7 % -3 == -2)
    tl.static_assert(2**10 == 1024)
    tl.static_assert(7 / 2 == 3.5)
    tl.static_assert((1 << 70) >> 68 == 4)
    tl.store(out_ptr, (1 << 40) // (1 << 38))


def test_constants_fold_as_in_python() -> None:
    out = np.zeros(1, np.int32)
    _constant_kernel[(1,)](out)
    assert out[0] == 4


# --- functions ----------------------------------------------------------------------------------------------------------------


@triton.jit
def functions(a, b):
    return tl.add(a, b) * tl.sub(a, b) + tl.mul(a, b)


@triton.jit
def functions_unsanitized(a, b):
    return tl.add(a, b, sanitize_overflow=False) * a.sub(b, sanitize_overflow=False) + tl.mul(a, b, False)


@pytest.mark.parametrize("a", ["int8", "uint16", "int32", "int64", "float32"])
def test_add_sub_mul_functions(a: str) -> None:
    x, y = pairs(a, a)
    with np.errstate(all="ignore"):
        want = (x + y) * (x - y) + x * y
    assert_same(apply(functions, a, x, y), want)
    assert_same(apply(functions_unsanitized, a, x, y), want)


@triton.jit
def negate(a):
    return -a


@triton.jit
def keep(a):
    return +a


@triton.jit
def absolute(a):
    return tl.abs(a)


@triton.jit
def absolute_method(a):
    return abs(a)


@pytest.mark.parametrize("a", DTYPES)
def test_unary(a: str) -> None:
    x = edges(a)
    assert_same(apply(keep, a, x), x)
    if a == "int1":
        assert_same(apply(absolute, a, x), x)
        return
    with np.errstate(all="ignore"):
        if a in FLOATS:
            # 0 - x: of +0 it is +0. Infinities of 8-bit formats saturate, as they do in all arithmetic.
            want = on_floats("-", np.zeros_like(x), x, a)
            magnitude = np.abs(as_double(x)).astype(x.dtype)
        else:
            want, magnitude = (0 - x).astype(x.dtype), np.abs(x)
    assert_same(apply(negate, a, x), want)
    assert_same(apply(absolute, a, x), magnitude)
    assert_same(apply(absolute_method, a, x), magnitude)


@triton.jit
def cdiv(a, b):
    return tl.cdiv(a, b)


@triton.jit
def umulhi(a, b):
    return tl.umulhi(a, b)


@pytest.mark.parametrize("a", ["int8", "int32", "uint32", "int64"])
def test_cdiv(a: str) -> None:
    x = np.arange(64, dtype=a)
    y = np.tile(np.array([1, 2, 3, 5, 7, 8, 11, 16], a), 8)
    assert_same(apply(cdiv, a, x, y), (-(-x.astype(int) // y.astype(int))).astype(a))


@pytest.mark.parametrize("a", ["int32", "uint32", "int64", "uint64"])
def test_umulhi_is_unsigned(a: str) -> None:
    x, y = pairs(a, a)
    bits = bits_of(a)
    unsigned = f"uint{bits}"
    product = [int(p) * int(q) >> bits for p, q in zip(x.view(unsigned), y.view(unsigned), strict=True)]
    assert_same(apply(umulhi, a, x, y), np.array(product, unsigned).view(a))


def test_umulhi_refuses_narrow_integers() -> None:
    with pytest.raises(triton.errors.CompileError, match="32- or 64-bit"):
        apply(umulhi, "int16", *pairs("int16", "int16"))


@triton.jit
def fma(a, b, c):
    return tl.fma(a, b, c)


@pytest.mark.parametrize("a", FLOATS)
def test_fma_rounds_once(a: str) -> None:
    x, y = pairs(a, a)
    z = np.tile(np.roll(edges(a), 5), 16)
    x, y, z = (np.concatenate([v, w]) for v, w in ((x, y), (y, z), (z, x)))
    got = apply(fma, a, x, y, z)
    want = []
    for p, q, r in zip(as_double(x), as_double(y), as_double(z), strict=True):
        with np.errstate(all="ignore"):
            product = p * q
            plain = product + r
        if not (np.isfinite(p) and np.isfinite(q) and np.isfinite(r)) or p == 0 or q == 0:
            want.append(float(plain))
            continue
        exact = Fraction(p) * Fraction(q) + Fraction(r)
        want.append(exact if exact else 0.0 if a == "float64" else float(plain))
    assert_same(got, _round_fractions(want, a), a)


def _round_fractions(values: list[Any], name: str) -> np.ndarray:
    """Exact fractions rounded once: float64 by Python's own division, others through a float64 rounded to odd."""
    results = []
    for value in values:
        if isinstance(value, Fraction):
            try:
                nearest = float(value)
            except OverflowError:
                nearest = np.inf if value > 0 else -np.inf
            if name != "float64" and np.isfinite(nearest) and Fraction(nearest) != value:
                towards = np.inf if value > Fraction(nearest) else -np.inf
                other = np.nextafter(nearest, towards)
                odd = int(np.float64(nearest).view(np.int64)) & 1
                nearest = nearest if odd else float(other)
            value = nearest
        results.append(value)
    return round_to(np.array(results, np.float64), name, saturate=name in FP8)
