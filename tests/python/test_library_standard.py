"""The library functions of the language: result types, values and order, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl

ROWS, COLS = 8, 16
FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]

# What a reduction of each element type gives: see the table at the top of trivet/language/standard.py.
SUM_DTYPE = {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
MAX_DTYPE = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "float16": "float32"}


def sample(dtype: str, shape: tuple[int, ...] = (ROWS, COLS), seed: int = 0) -> np.ndarray:
    """Values of the whole range of an integer type, ties included; normal floats."""
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values[0, :2] = limits.max
    values[-1, -2:] = limits.min
    return values


@triton.jit
def matrix(ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    return ptr + tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]


@triton.jit
def along_rows_kernel(x_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """out[row] = F(x)[row]"""
    result = F(tl.load(matrix(x_ptr, ROWS, COLS)))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + tl.arange(0, ROWS), result)


@triton.jit
def scalar_kernel(x_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """out[0] = F(x)"""
    result = F(tl.load(matrix(x_ptr, ROWS, COLS)))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr, result)


@triton.jit
def tile_kernel(
    x_ptr,
    out_ptr,
    F: tl.constexpr,
    DTYPE: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
    OUT_ROWS: tl.constexpr,
    OUT_COLS: tl.constexpr,
):
    """out = F(x), two-dimensional"""
    result = F(tl.load(matrix(x_ptr, ROWS, COLS)))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(matrix(out_ptr, OUT_ROWS, OUT_COLS), result)


def run(kernel: Any, function: Any, x: np.ndarray, out_shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """The result of ``function`` on the tile ``x``; fails to compile unless its element type is ``dtype``."""
    out = np.zeros(out_shape, dtype)
    shapes = {"OUT_ROWS": out_shape[0], "OUT_COLS": out_shape[1]} if kernel is tile_kernel else {}
    kernel[(1,)](x, out, F=function, DTYPE=getattr(tl, dtype), ROWS=x.shape[0], COLS=x.shape[1], **shapes)
    return out


# --- reductions ------------------------------------------------------------------------------------------------------------


@triton.jit
def sum_rows(x):
    return tl.sum(x, axis=1)


@triton.jit
def sum_all(x):
    return tl.sum(x)


@triton.jit
def sum_as_int64(x):
    return tl.sum(x, 1, dtype=tl.int64)


@triton.jit
def sum_mask(x):
    return tl.sum(x > 0, axis=1)


@triton.jit
def max_rows(x):
    return x.max(axis=1)


@triton.jit
def min_rows(x):
    return tl.min(x, axis=-1)


@triton.jit
def max_value(x):
    value, index = tl.max(x, 1, return_indices=True)
    tl.static_assert(index.dtype == tl.int32)
    return value


@triton.jit
def min_value(x):
    value, _ = tl.min(x, 1, return_indices=True, return_indices_tie_break_left=False)
    return value


@triton.jit
def argmax_rows(x):
    return tl.argmax(x, axis=1)


@triton.jit
def argmin_rows(x):
    return tl.argmin(x, 1, tie_break_left=True)


@triton.jit
def argmax_fast_rows(x):
    return tl.argmax(x, 1, tie_break_left=False)


@triton.jit
def xor_rows(x):
    return tl.xor_sum(x, axis=1)


@triton.jit
def or_rows(x):
    return tl.reduce_or(x, axis=1)


@triton.jit
def sum_keeping(x):
    return tl.sum(x, 1, keep_dims=True) + tl.max(x, 1, keep_dims=True) + tl.sum(x, keep_dims=True)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sum_of_integers(dtype: str) -> None:
    x = sample(dtype)
    wide = SUM_DTYPE.get(dtype, dtype)
    np.testing.assert_array_equal(run(along_rows_kernel, sum_rows, x, (ROWS,), wide), x.sum(1, dtype=wide))
    np.testing.assert_array_equal(run(scalar_kernel, sum_all, x, (1,), wide)[0], x.sum(dtype=wide))
    np.testing.assert_array_equal(run(along_rows_kernel, sum_as_int64, x, (ROWS,), "int64"), x.sum(1, dtype="int64"))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sum_of_floats(dtype: str) -> None:
    x = sample(dtype)
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype == "float16" else {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(run(along_rows_kernel, sum_rows, x, (ROWS,), dtype), x.sum(1), **tolerance)


def test_sum_of_a_mask_counts() -> None:
    x = sample("float32")
    np.testing.assert_array_equal(run(along_rows_kernel, sum_mask, x, (ROWS,), "uint32"), (x > 0).sum(1))


def test_keep_dims() -> None:
    x = sample("float32")
    want = x.sum(1, keepdims=True) + x.max(1, keepdims=True) + x.sum()
    np.testing.assert_allclose(run(tile_kernel, sum_keeping, x, (ROWS, 1), "float32"), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_max_and_min(dtype: str) -> None:
    x = sample(dtype)
    wide = MAX_DTYPE.get(dtype, dtype)
    np.testing.assert_array_equal(run(along_rows_kernel, max_rows, x, (ROWS,), wide), x.max(1))
    np.testing.assert_array_equal(run(along_rows_kernel, min_rows, x, (ROWS,), wide), x.min(1))
    np.testing.assert_array_equal(run(along_rows_kernel, max_value, x, (ROWS,), dtype), x.max(1))
    np.testing.assert_array_equal(run(along_rows_kernel, min_value, x, (ROWS,), dtype), x.min(1))
    np.testing.assert_array_equal(run(along_rows_kernel, argmax_rows, x, (ROWS,), "int32"), x.argmax(1))
    np.testing.assert_array_equal(run(along_rows_kernel, argmin_rows, x, (ROWS,), "int32"), x.argmin(1))


def test_ties_go_left_or_anywhere() -> None:
    x = np.zeros((ROWS, COLS), np.float32)
    x[:, 5] = x[:, 11] = 3
    assert (run(along_rows_kernel, argmax_rows, x, (ROWS,), "int32") == 5).all()
    assert np.isin(run(along_rows_kernel, argmax_fast_rows, x, (ROWS,), "int32"), [5, 11]).all()


def test_max_passes_over_nan() -> None:
    x = sample("float32")
    x[:, 3] = np.nan
    x[1, :] = np.nan
    got = run(along_rows_kernel, max_rows, x, (ROWS,), "float32")
    assert np.isnan(got[1])
    rest = np.arange(ROWS) != 1
    np.testing.assert_array_equal(got[rest], np.nanmax(x[rest], 1))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_xor_and_or(dtype: str) -> None:
    x = sample(dtype)
    np.testing.assert_array_equal(run(along_rows_kernel, xor_rows, x, (ROWS,), dtype), np.bitwise_xor.reduce(x, 1))
    np.testing.assert_array_equal(run(along_rows_kernel, or_rows, x, (ROWS,), dtype), np.bitwise_or.reduce(x, 1))


@pytest.mark.parametrize(
    ("function", "message"), [(xor_rows, "only supported for integers"), (or_rows, "only supported")]
)
def test_bitwise_reductions_refuse_floats(function: Any, message: str) -> None:
    with pytest.raises(triton.errors.CompileError, match=message):
        run(along_rows_kernel, function, sample("float32"), (ROWS,), "float32")


@triton.jit
def max_index_of_all(x):
    value, _ = tl.max(x, return_indices=True)
    return value


def test_indices_need_an_axis() -> None:
    with pytest.raises(triton.errors.CompileError, match="needs an axis"):
        run(scalar_kernel, max_index_of_all, sample("float32"), (1,), "float32")


# --- scans -----------------------------------------------------------------------------------------------------------------


@triton.jit
def cumsum_rows(x):
    return tl.cumsum(x, 1)


@triton.jit
def cumsum_columns_reversed(x):
    return tl.cumsum(x, axis=0, reverse=True)


@triton.jit
def cumsum_as_float32(x):
    return tl.cumsum(x, 1, dtype=tl.float32)


@triton.jit
def cumprod_rows(x):
    return tl.cumprod(x, axis=1)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_scans_of_integers(dtype: str) -> None:
    x = sample(dtype)
    wide = SUM_DTYPE.get(dtype, dtype)
    got = run(tile_kernel, cumsum_rows, x, x.shape, wide)
    np.testing.assert_array_equal(got, x.cumsum(1, dtype=wide))
    got = run(tile_kernel, cumsum_columns_reversed, x, x.shape, wide)
    np.testing.assert_array_equal(got, x[::-1].cumsum(0, dtype=wide)[::-1])
    np.testing.assert_array_equal(run(tile_kernel, cumprod_rows, x, x.shape, dtype), x.cumprod(1, dtype=dtype))


def test_scans_of_floats() -> None:
    x = sample("float32")
    np.testing.assert_allclose(run(tile_kernel, cumsum_rows, x, x.shape, "float32"), x.cumsum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(run(tile_kernel, cumprod_rows, x, x.shape, "float32"), x.cumprod(1), rtol=1e-4)
    half = x.astype(np.float16)
    got = run(tile_kernel, cumsum_as_float32, half, x.shape, "float32")
    np.testing.assert_allclose(got, half.cumsum(1, dtype="float32"), rtol=1e-4, atol=1e-5)


@triton.jit
def narrow_types_kernel(x_ptr, out_ptr, N: tl.constexpr):
    """What bf16, f8 and i1 become; every sum is exact, so that only types can go wrong."""
    x = tl.load(x_ptr + tl.arange(0, N))
    short = x.to(tl.bfloat16)
    tiny = x.to(tl.float8e5)
    tl.static_assert(tl.sum(short, 0).dtype == tl.bfloat16)
    tl.static_assert(tl.cumsum(short, 0).dtype == tl.float32)
    tl.static_assert(tl.cumprod(short, 0).dtype == tl.float32)
    tl.static_assert(tl.max(short, 0).dtype == tl.float32)
    value, _ = tl.max(short, 0, return_indices=True)
    tl.static_assert(value.dtype == tl.float32)
    tl.static_assert(tl.softmax(short).dtype == tl.float32)
    tl.static_assert(tl.sort(short).dtype == tl.bfloat16)
    tl.static_assert(tl.topk(short, 2).dtype == tl.float32)
    tl.static_assert(tl.max(tiny, 0).dtype == tl.float32)
    tl.static_assert(tl.cumsum(x > 0, 0).dtype == tl.uint32)
    tl.static_assert(tl.max(x > 0, 0).dtype == tl.int32)
    tl.store(out_ptr, tl.sum(short, 0))
    tl.store(out_ptr + 1, tl.max(tiny, 0))
    tl.store(out_ptr + 2, tl.sum(tl.cumsum(short, 0), 0))
    tl.store(out_ptr + 3, tl.sum(tl.cumsum(x > 0, 0).to(tl.float32), 0))


def test_narrow_types() -> None:
    x = np.array([1, 2, 0, 4, 1, 0, 2, 1], np.float32)
    out = np.zeros(4, np.float32)
    narrow_types_kernel[(1,)](x, out, N=8)
    assert out.tolist() == [x.sum(), x.max(), x.cumsum().sum(), (x > 0).cumsum().sum()]


# --- order -----------------------------------------------------------------------------------------------------------------


@triton.jit
def sort_ascending(x):
    return tl.sort(x)


@triton.jit
def sort_descending(x):
    return tl.sort(x, dim=1, descending=True)


@triton.jit
def sort_columns(x):
    return tl.sort(x, dim=0)


@triton.jit
def top_four(x):
    return tl.topk(x, 4)


@triton.jit
def top_all(x):
    return tl.topk(x, x.shape[1], dim=1)


@triton.jit
def bottom_four(x):
    return tl.standard.sort_impl(x, 4)


@triton.jit
def flip_rows(x):
    return tl.flip(x)


@triton.jit
def flip_columns(x):
    return tl.flip(x, -2)


@triton.jit
def merge_rows(x):
    return tl.bitonic_merge(x)


@triton.jit
def merge_columns_descending(x):
    return tl.bitonic_merge(x, 0, descending=True)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_sort_and_topk(dtype: str) -> None:
    x = sample(dtype)
    ascending = np.sort(x, 1)
    descending = ascending[:, ::-1]
    np.testing.assert_array_equal(run(tile_kernel, sort_ascending, x, x.shape, dtype), ascending)
    np.testing.assert_array_equal(run(tile_kernel, sort_descending, x, x.shape, dtype), descending)
    np.testing.assert_array_equal(run(tile_kernel, sort_columns, x, x.shape, dtype), np.sort(x, 0))
    wide = MAX_DTYPE.get(dtype, dtype)
    np.testing.assert_array_equal(run(tile_kernel, top_four, x, (ROWS, 4), wide), descending[:, :4])
    np.testing.assert_array_equal(run(tile_kernel, top_all, x, x.shape, dtype), descending)
    np.testing.assert_array_equal(run(tile_kernel, bottom_four, x, (ROWS, 4), dtype), ascending[:, :4])


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_flip(dtype: str) -> None:
    x = sample(dtype)
    np.testing.assert_array_equal(run(tile_kernel, flip_rows, x, x.shape, dtype), x[:, ::-1])
    np.testing.assert_array_equal(run(tile_kernel, flip_columns, x, x.shape, dtype), x[::-1])


@pytest.mark.parametrize("shift", [0, 3])
def test_bitonic_merge(shift: int) -> None:
    x = sample("float32", (16, 16))
    rows = np.concatenate([np.sort(x[:, :8], 1), np.sort(x[:, 8:], 1)[:, ::-1]], 1)
    rows = np.ascontiguousarray(np.roll(rows, shift, 1))
    np.testing.assert_array_equal(run(tile_kernel, merge_rows, rows, x.shape, "float32"), np.sort(rows, 1))
    columns = np.ascontiguousarray(rows.T)
    got = run(tile_kernel, merge_columns_descending, columns, x.shape, "float32")
    np.testing.assert_array_equal(got, np.sort(columns, 0)[::-1])


# --- elementwise and shape -------------------------------------------------------------------------------------------------


@triton.jit
def softmax_columns(x):
    return tl.softmax(x)


@triton.jit
def softmax_rows(x):
    return tl.softmax(x, 1)


@triton.jit
def sigmoid(x):
    return tl.sigmoid(x)


@triton.jit
def there_and_back(x):
    return tl.squeeze(tl.unsqueeze(x, 1), 1) + tl.zeros_like(x) + tl.zeros(x.shape, tl.float32)


@triton.jit
def doubled(x):
    return tl.interleave(x, -x)


@triton.jit
def raveled_sum(x):
    flat = tl.ravel(x)
    tl.static_assert(len(flat.shape) == 1)
    return tl.sum(flat * tl.arange(0, x.numel), 0)


@pytest.mark.parametrize(("function", "axis"), [(softmax_columns, 0), (softmax_rows, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax(function: Any, axis: int, dtype: str) -> None:
    x = sample(dtype) * 100
    numerator = np.exp(x.astype(float) - x.max(axis, keepdims=True))
    want = numerator / numerator.sum(axis, keepdims=True)
    np.testing.assert_allclose(run(tile_kernel, function, x, x.shape, "float32"), want, rtol=1e-4, atol=1e-7)


def test_sigmoid() -> None:
    x = sample("float32") * 20
    want = 1 / (1 + np.exp(-x.astype(float)))
    np.testing.assert_allclose(run(tile_kernel, sigmoid, x, x.shape, "float32"), want, rtol=1e-5)


def test_shapes() -> None:
    x = sample("float32")
    np.testing.assert_array_equal(run(tile_kernel, there_and_back, x, x.shape, "float32"), x)
    got = run(tile_kernel, doubled, x, (ROWS, 2 * COLS), "float32")
    np.testing.assert_array_equal(got, np.stack([x, -x], -1).reshape(ROWS, -1))
    small = sample("int32") % 1000
    want = (small.ravel() * np.arange(small.size)).sum()
    assert run(scalar_kernel, raveled_sum, small, (1,), "int32")[0] == want


@triton.jit
def integers_kernel(out_ptr, a, b):
    tl.store(out_ptr, tl.cdiv(a, b))
    i, j = tl.swizzle2d(3, 1, 4, 4, 2)
    tl.store(out_ptr + 1, i)
    tl.store(out_ptr + 2, j)
    two = tl.interleave(a, b)
    tl.store(out_ptr + 3 + tl.arange(0, 2), two)


@pytest.mark.parametrize(("a", "b", "want"), [(7, 2, 4), (8, 2, 4), (0, 5, 0), (1, 9, 1)])
def test_scalars(a: int, b: int, want: int) -> None:
    out = np.zeros(5, np.int32)
    integers_kernel[(1,)](out, a, b)
    # Number 3 * 4 + 1 = 13 of the walk stands in the second band (rows 2 and 3), place 5 of it: row 3, column 2.
    assert out.tolist() == [want, 3, 2, a, b]


@triton.jit
def walk_kernel(out_ptr, size_i, size_j, size_g, N: tl.constexpr):
    i = tl.arange(0, N)[:, None]
    j = tl.arange(0, N)[None, :]
    new_i, new_j = tl.swizzle2d(i, j, size_i, size_j, size_g)
    tl.store(out_ptr + new_i * size_j + new_j, i * size_j + j, mask=(i < size_i) & (j < size_j))


@pytest.mark.parametrize(("size_i", "size_j", "size_g"), [(4, 4, 2), (13, 7, 4), (5, 16, 3), (16, 3, 16)])
def test_swizzle2d_walks_in_bands(size_i: int, size_j: int, size_g: int) -> None:
    out = np.full((size_i, size_j), -1, np.int32)
    walk_kernel[(1,)](out, size_i, size_j, size_g, N=16)
    want = np.empty_like(out)
    number = 0
    for first in range(0, size_i, size_g):
        for column in range(size_j):
            for row in range(first, min(first + size_g, size_i)):
                want[row, column] = number
                number += 1
    np.testing.assert_array_equal(out, want)
