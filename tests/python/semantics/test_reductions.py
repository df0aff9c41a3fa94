"""``sum``, ``max``, ``min``, ``argmax``, ``xor_sum``, ``reduce`` with any function: axes, ranks, types, ties, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from semantics_support import INTEGERS, NUMPY, assert_same, language_dtype, round_to, sample, transform

import trivet as triton
import trivet.language as tl


@triton.jit
def _reduce_kernel(
    x_ptr,
    out_ptr,
    F: tl.constexpr,
    AXIS: tl.constexpr,
    KEEP: tl.constexpr,
    DTYPE: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
):
    i = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    result = F(tl.load(x_ptr + i), AXIS, keep_dims=KEEP)
    tl.static_assert(result.dtype == DTYPE)
    if len(result.shape) == 0:
        tl.store(out_ptr, result)
    else:
        tl.store(out_ptr + tl.reshape(tl.arange(0, result.numel), result.shape), result)


def reduced(function: Any, x: np.ndarray, axis: int | None, dtype: str, keep_dims: bool = False) -> np.ndarray:
    """``function(x, axis, keep_dims=...)`` of a rank-3 tile, with the shape that NumPy would give."""
    shape = np.zeros(x.shape).sum(axis=axis, keepdims=keep_dims).shape
    out = np.zeros(shape, NUMPY[dtype])
    a, b, c = x.shape
    _reduce_kernel[(1,)](x, out, F=function, AXIS=axis, KEEP=keep_dims, DTYPE=language_dtype(dtype), A=a, B=b, C=c)
    return out


@triton.jit
def total(x, axis, keep_dims):
    return tl.sum(x, axis, keep_dims=keep_dims)


@triton.jit
def largest(x, axis, keep_dims):
    return tl.max(x, axis, keep_dims=keep_dims)


@triton.jit
def smallest(x, axis, keep_dims):
    return tl.min(x, axis, keep_dims=keep_dims)


@triton.jit
def parity(x, axis, keep_dims):
    return tl.xor_sum(x, axis, keep_dims=keep_dims)


@triton.jit
def any_bit(x, axis, keep_dims):
    return tl.reduce_or(x, axis, keep_dims=keep_dims)


AXES = [0, 1, 2, -1, -3, None]
SHAPES = [(4, 8, 2), (1, 16, 1), (1, 1, 1), (2, 1, 32), (5, 3, 13)]
NARROW = {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32", "int1": "uint32"}
EXTREME = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32"}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", AXES)
def test_integers(axis: int | None, shape: tuple[int, ...]) -> None:
    for dtype in INTEGERS:
        for keep in (False, True):
            x = sample(dtype, shape)
            wide = NARROW.get(dtype, dtype)
            want = np.asarray(x.sum(axis=axis, dtype=wide, keepdims=keep))
            assert_same(reduced(total, x, axis, wide, keep), want, dtype)
            wide = EXTREME.get(dtype, dtype)
            assert_same(reduced(largest, x, axis, wide, keep), np.asarray(x.max(axis=axis, keepdims=keep)).astype(wide))
            assert_same(
                reduced(smallest, x, axis, wide, keep), np.asarray(x.min(axis=axis, keepdims=keep)).astype(wide)
            )
            bits = np.asarray(np.bitwise_xor.reduce(x, axis=axis if axis is not None else (0, 1, 2), keepdims=keep))
            assert_same(reduced(parity, x, axis, dtype, keep), bits, dtype)
            bits = np.asarray(np.bitwise_or.reduce(x, axis=axis if axis is not None else (0, 1, 2), keepdims=keep))
            assert_same(reduced(any_bit, x, axis, dtype, keep), bits, dtype)


def pairwise(values: np.ndarray, dtype: str) -> np.ndarray:
    """A sum along axis 0 in the order that docs/semantics.md#reduce gives, each addition rounded to ``dtype``."""
    level = list(values)
    while len(level) > 1:
        sums = [
            round_to(a.astype(np.float64) + b.astype(np.float64), dtype) if dtype != "float64" else a + b
            for a, b in zip(level[0::2], level[1::2])  # noqa: B905 (an odd one is left)
        ]
        level = sums + level[2 * len(sums) :]
    return level[0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_float_sums_to_the_bit(axis: int, dtype: str) -> None:
    for shape in SHAPES:
        x = sample(dtype, shape) * np.array(100, NUMPY[dtype])
        x = x.astype(NUMPY[dtype])
        want = pairwise(np.moveaxis(x, axis, 0), dtype)
        assert_same(reduced(total, x, axis, dtype), want, dtype, shape)


@pytest.mark.parametrize("dtype", ["float8e4nv", "float8e5", "float16", "bfloat16", "float32", "float64"])
def test_float_extremes_pass_over_nan(dtype: str) -> None:
    x = sample(dtype, (4, 8, 2))
    x[:, 3, :] = np.nan
    x[2, :, 1] = np.nan
    if dtype in ("float16", "bfloat16", "float32", "float64"):
        x[1, 1, 0], x[1, 2, 0] = np.inf, -np.inf
    wide = dtype if dtype in ("float32", "float64") else "float32"
    values = x.astype(np.float64)
    for axis in (0, 1, 2):
        high, low = np.fmax.reduce(values, axis), np.fmin.reduce(values, axis)
        assert_same(reduced(largest, x, axis, wide), high.astype(wide), dtype)
        assert_same(reduced(smallest, x, axis, wide), low.astype(wide), dtype)


# --- with indices ------------------------------------------------------------------------------------------------------------------


@triton.jit
def argmax(x, axis, keep_dims):
    return tl.argmax(x, axis, keep_dims=keep_dims)


@triton.jit
def argmin(x, axis, keep_dims):
    return tl.argmin(x, axis, keep_dims=keep_dims)


@triton.jit
def value_of_argmax(x, axis, keep_dims):
    value, _ = tl.max(x, axis, return_indices=True, keep_dims=keep_dims)
    return value


@triton.jit
def loose_argmin(x, axis, keep_dims):
    _, index = tl.min(x, axis, return_indices=True, return_indices_tie_break_left=False, keep_dims=keep_dims)
    return index


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_indices_and_ties(axis: int, dtype: str) -> None:
    x = (sample("uint8", (4, 8, 4)) % 5).astype(NUMPY[dtype])  # many ties
    values = x.astype(np.float64)
    for keep in (False, True):
        want = np.argmax(values, axis, keepdims=keep).astype(np.int32)
        assert_same(reduced(argmax, x, axis, "int32", keep), want, dtype)
        want = np.argmin(values, axis, keepdims=keep).astype(np.int32)
        assert_same(reduced(argmin, x, axis, "int32", keep), want, dtype)
    wide = "float32" if dtype == "bfloat16" else dtype
    assert_same(reduced(value_of_argmax, x, axis, wide), values.max(axis).astype(wide))
    index = reduced(loose_argmin, x, axis, "int32", True)
    assert (np.take_along_axis(values, index.astype(int), axis) == values.min(axis, keepdims=True)).all()


# --- reduce with any function ------------------------------------------------------------------------------------------------------


@triton.jit
def keep_first(a, b):
    return a


@triton.jit
def keep_last(a, b):
    return b


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def first(x, axis, keep_dims):
    return tl.reduce(x, axis, keep_first, keep_dims=keep_dims)


@triton.jit
def last(x, axis, keep_dims):
    return tl.reduce(x, axis, keep_last, keep_dims=keep_dims)


@triton.jit
def product(x, axis, keep_dims):
    return x.reduce(axis, multiply, keep_dims=keep_dims)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_order_of_operands_is_kept(axis: int) -> None:
    x = sample("int32", (4, 8, 2))
    assert_same(reduced(first, x, axis, "int32"), np.take(x, 0, axis))
    assert_same(reduced(last, x, axis, "int32"), np.take(x, -1, axis))
    with np.errstate(over="ignore"):
        assert_same(reduced(product, x, axis, "int32"), np.multiply.reduce(x, axis, dtype=np.int32))


@triton.jit
def welford(mean1, m1, weight1, mean2, m2, weight2):
    """Chan's update of mean, sum of squares and count."""
    weight = weight1 + weight2
    delta = mean2 - mean1
    return mean1 + delta * (weight2 / weight), m1 + m2 + delta * delta * (weight1 * weight2 / weight), weight


@triton.jit
def variance(x, axis, keep_dims):
    mean, squares, weight = tl.reduce(
        (x, tl.zeros_like(x), tl.full(x.shape, 1.0, x.dtype)), axis, welford, keep_dims=keep_dims
    )
    return squares / weight


@pytest.mark.parametrize("axis", [0, 1, 2, None])
def test_tuple_of_three(axis: int | None) -> None:
    x = sample("float64", (4, 8, 2))
    np.testing.assert_allclose(reduced(variance, x, axis, "float64"), x.var(axis), rtol=1e-12)


@triton.jit
def complex_multiply(re1, im1, re2, im2):
    return re1 * re2 - im1 * im2, re1 * im2 + im1 * re2


@triton.jit
def argument_of_product(x, axis, keep_dims):
    re, im = tl.reduce((x, 1 - x), axis, complex_multiply, keep_dims=keep_dims)
    return re + 1000 * im


def test_mixed_function() -> None:
    x = np.abs(sample("int64", (2, 4, 2))) % 3
    numbers = np.multiply.reduce(x + 1j * (1 - x), axis=1)
    want = (numbers.real + 1000 * numbers.imag).astype(np.int64)
    assert_same(reduced(argument_of_product, x, 1, "int64"), want)


@triton.jit
def pair_max(value1, tag1, value2, tag2):
    later = value2 > value1
    return tl.where(later, value2, value1), tl.where(later, tag2, tag1)


@triton.jit
def tag_of_largest(x, axis, keep_dims):
    tags = x.to(tl.int8)
    _, tag = tl.reduce((x, tags), axis, pair_max, keep_dims=keep_dims)
    return tag


def test_tuple_of_different_types() -> None:
    x = np.round(sample("float32", (4, 8, 2)) * 20)
    assert_same(reduced(tag_of_largest, x, 1, "int8"), x.max(1).astype(np.int8))


# --- widths ----------------------------------------------------------------------------------------------------------------------------


@triton.jit
def sum_in_int64(x):
    return tl.sum(x, dtype=tl.int64)


@triton.jit
def sum_in_float32(x):
    return tl.sum(x, 0, dtype=tl.float32)


def test_sum_in_another_type() -> None:
    x = np.full(64, 2**31 - 1, np.int32)
    assert transform(sum_in_int64, "int64", (), x) == 64 * (2**31 - 1)
    half = np.full((64, 2), 60000, np.float16)
    assert transform(sum_in_float32, "float32", (2,), half).tolist() == [64 * 60000.0] * 2


@triton.jit
def count(x):
    return tl.sum(x, 0)


def test_masks_count() -> None:
    for n in (1, 2, 128):
        x = np.arange(n) % 3 == 0
        assert transform(count, "uint32", (), x) == x.sum()


@triton.jit
def reduce_extent_one(x):
    return tl.reduce(x, 0, keep_last)


def test_extent_one() -> None:
    assert transform(reduce_extent_one, "float32", (), np.array([np.pi], np.float32)) == np.float32(np.pi)


@triton.jit
def wrong_axis(x):
    return tl.sum(x, 2)


@triton.jit
def wrong_function(x):
    return tl.reduce(x, 0, tl.exp)


@triton.jit
def wrong_count(a, b):
    return a, b


@triton.jit
def wrong_results(x):
    return tl.reduce(x, 0, wrong_count)


@pytest.mark.parametrize("function", [wrong_axis, wrong_function, wrong_results])
def test_refusals(function: Any) -> None:
    with pytest.raises(triton.errors.CompileError):
        transform(function, "float32", (4,), sample("float32", (4, 4)))
