"""``sort``, ``topk``, ``histogram``, ``gather`` and ``map_elementwise``: every type, NaN, ties, axes, what lies outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from semantics_support import DTYPES, INTEGERS, NUMPY, assert_same, sample, transform

import trivet as triton
import trivet.language as tl


@triton.jit
def ascending(x):
    return tl.sort(x)


@triton.jit
def descending(x):
    return tl.sort(x, descending=True)


@triton.jit
def columns(x):
    return tl.sort(x, dim=0)


@triton.jit
def top_four(x):
    return tl.topk(x, 4)


@triton.jit
def top_row(x):
    return tl.topk(x, 1, dim=0)


def values_of(x: np.ndarray) -> np.ndarray:
    """Values that order as the type's do: wide floats, or the integers themselves."""
    return x if x.dtype.kind in "iub" else x.astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(dtype: str) -> None:
    for shape in ((4, 32), (1, 1), (2, 1), (1, 64), (3, 21)):
        x = sample(dtype, shape)
        order = values_of(x)
        assert_same(transform(ascending, dtype, shape, x), np.sort(order, -1).astype(x.dtype), dtype)
        assert_same(transform(columns, dtype, shape, x), np.sort(order, 0).astype(x.dtype), dtype)
        want = np.sort(order, -1)[..., ::-1].astype(x.dtype)
        assert_same(transform(descending, dtype, shape, x), np.ascontiguousarray(want), dtype)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "bfloat16", "float32", "float64"])
def test_topk(dtype: str) -> None:
    x = sample(dtype, (4, 32))
    narrow = NUMPY[dtype].itemsize < 4
    wide = "float32" if narrow and "float" in dtype else "int32" if narrow else dtype
    want = np.sort(values_of(x), -1)[:, ::-1]
    assert_same(transform(top_four, wide, (4, 4), x), np.ascontiguousarray(want[:, :4]).astype(wide), dtype)
    assert_same(transform(top_row, wide, (1, 32), x), np.max(values_of(x), 0, keepdims=True).astype(wide), dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_is_largest_and_equals_keep_their_order(dtype: str) -> None:
    x = np.array([[3, np.nan, -np.inf, 0.0, -0.0, np.inf, 0.0, -0.0]]).astype(NUMPY[dtype])
    up = [-np.inf, 0.0, -0.0, 0.0, -0.0, 3, np.inf, np.nan]
    assert_same(transform(ascending, dtype, (1, 8), x), np.array([up]).astype(x.dtype))
    down = [np.nan, np.inf, 3, 0.0, -0.0, 0.0, -0.0, -np.inf]
    assert_same(transform(descending, dtype, (1, 8), x), np.array([down]).astype(x.dtype))


# --- histogram ---------------------------------------------------------------------------------------------------------------------


@triton.jit
def histogram(x):
    return tl.histogram(x, 16)


@triton.jit
def histogram_of_even(x):
    return x.histogram(16, mask=x % 2 == 0)


@triton.jit
def histogram_of_nothing(x):
    return tl.histogram(x, 4, mask=x > 1000)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64", "uint8"])
def test_histogram(dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0 if dtype.startswith("u") else -20, 40, 256).astype(dtype)
    inside = x[(x >= 0) & (x < 16)].astype(int)
    assert_same(transform(histogram, "int32", (16,), x), np.bincount(inside, minlength=16).astype(np.int32))
    even = inside[inside % 2 == 0]
    assert_same(transform(histogram_of_even, "int32", (16,), x), np.bincount(even, minlength=16).astype(np.int32))
    if dtype != "int8" and dtype != "uint8":
        assert_same(transform(histogram_of_nothing, "int32", (4,), x), np.zeros(4, np.int32))


# --- gather ------------------------------------------------------------------------------------------------------------------------


@triton.jit
def gather_rows(x, index):
    return tl.gather(x, index, 0)


@triton.jit
def gather_columns(x, index):
    return x.gather(index, axis=1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(dtype: str) -> None:
    rng = np.random.default_rng(2)
    x = sample(dtype, (4, 8))
    for index_dtype in ("int32", "int64", "uint8"):
        index = rng.integers(0, 4, (16, 8)).astype(index_dtype)
        want = np.take_along_axis(x, index.astype(int), 0)
        assert_same(transform(gather_rows, dtype, (16, 8), x, index), want, dtype)
        index = rng.integers(0, 8, (4, 2)).astype(index_dtype)
        want = np.take_along_axis(x, index.astype(int), 1)
        assert_same(transform(gather_columns, dtype, (4, 2), x, index), want, dtype)


@pytest.mark.parametrize("bad", [4, -1])
def test_an_index_outside_is_an_error(bad: int) -> None:
    index = np.zeros((4, 8), np.int32)
    index[2, 3] = bad
    with pytest.raises(triton.errors.KernelError, match=str(bad)):
        transform(gather_rows, "float32", (4, 8), sample("float32", (4, 8)), index)


@triton.jit
def wrong_gather(x, index):
    return tl.gather(x, index, 2)


def test_gather_refuses() -> None:
    x = sample("float32", (4, 8))
    for function, index in (
        (wrong_gather, np.zeros((4, 8), np.int32)),
        (gather_rows, np.zeros((4, 4), np.int32)),
        (gather_rows, x),
    ):
        with pytest.raises(triton.errors.CompileError):
            transform(function, "float32", index.shape, x, index)


# --- map_elementwise -----------------------------------------------------------------------------------------------------------------


@triton.jit
def compare(a, b):
    if a < b:
        return -1
    elif a == b:
        return 0
    else:
        return 1


@triton.jit
def compare_tiles(x, y):
    return tl.map_elementwise(compare, x, y)


@triton.jit
def quotient_and_rest(a, b):
    return a // b, a % b


@triton.jit
def divided(x, y):
    quotient, rest = tl.map_elementwise(quotient_and_rest, x, y)
    return quotient * 1000 + rest


@triton.jit
def swap_pairs(a0, a1):
    return a1, a0


@triton.jit
def swapped(x):
    return tl.map_elementwise(swap_pairs, x, pack=2)


@triton.jit
def collatz_steps(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@triton.jit
def collatz(x):
    return tl.map_elementwise(collatz_steps, x)


def test_map_elementwise() -> None:
    x, y = sample("int32", (4, 8)) % 5, sample("int32", (4, 8), seed=1) % 5
    assert_same(transform(compare_tiles, "int32", (4, 8), x, y), np.sign(x - y))
    x, y = np.abs(x) + 7, np.abs(y) + 1
    assert_same(transform(divided, "int32", (4, 8), x, y), x // y * 1000 + x % y)
    assert_same(transform(swapped, "int32", (4, 8), x), x.reshape(-1, 2)[:, ::-1].reshape(4, 8))


def test_map_elementwise_with_a_loop() -> None:
    def steps(n: int) -> int:
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    x = np.arange(64, dtype=np.int32)
    assert transform(collatz, "int32", (64,), x).tolist() == [steps(int(n)) for n in x]


@triton.jit
def sort_of_a_scalar(x):
    return tl.sort(tl.sum(x))


@triton.jit
def topk_of_three(x):
    return tl.topk(x, 3)


@triton.jit
def topk_of_too_many(x):
    return tl.topk(x, 64)


@pytest.mark.parametrize("function", [sort_of_a_scalar, topk_of_three, topk_of_too_many])
def test_refusals(function: Any) -> None:
    with pytest.raises(triton.errors.CompileError):
        transform(function, "float32", (4, 8), sample("float32", (4, 8)))
