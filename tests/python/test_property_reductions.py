"""Reductions and scans of random shapes with random functions, against one step after another in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import trivet as triton
import trivet.language as tl

# Associative functions only: a reduction combines neighbours first. Each comes as kernel code and as NumPy.


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def exclusive_or(a, b):
    return a ^ b


@triton.jit
def first_nonzero(a, b):
    return tl.where(a != 0, a, b)


@triton.jit
def keep_last(a, b):
    return b


@triton.jit
def saturating_add(a, b):
    """Associative for non-negative operands."""
    total = (a & 1023) + (b & 1023)
    if total > 1000:
        total = a * 0 + 1000
    return total


ONE = [
    (add, np.add),
    (multiply, np.multiply),
    (larger, np.maximum),
    (exclusive_or, np.bitwise_xor),
    (first_nonzero, lambda a, b: np.where(a != 0, a, b)),
    (keep_last, lambda a, b: b),
]


@triton.jit
def affine(gain1, value1, gain2, value2):
    return gain1 * gain2, value1 * gain2 + value2


@triton.jit
def argmax(value1, index1, value2, index2):
    first = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@triton.jit
def matrix(a1, b1, c1, d1, a2, b2, c2, d2):
    return a1 * a2 + b1 * c2, a1 * b2 + b1 * d2, c1 * a2 + d1 * c2, c1 * b2 + d1 * d2


def _argmax(x: Any, y: Any) -> Any:
    first = (x[0] > y[0]) | ((x[0] == y[0]) & (x[1] < y[1]))
    return np.where(first, x[0], y[0]), np.where(first, x[1], y[1])


def _matrix(x: Any, y: Any) -> Any:
    (a1, b1, c1, d1), (a2, b2, c2, d2) = x, y
    return a1 * a2 + b1 * c2, a1 * b2 + b1 * d2, c1 * a2 + d1 * c2, c1 * b2 + d1 * d2


SEVERAL = [
    (affine, 2, lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1])),
    (argmax, 2, _argmax),
    (matrix, 4, _matrix),
]


@triton.jit
def reduce_kernel(
    x_ptr,
    out_ptr,
    F: tl.constexpr,
    COUNT: tl.constexpr,
    AXIS: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
):
    i = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    size: tl.constexpr = A * B * C
    if COUNT == 1:
        results = (tl.reduce(tl.load(x_ptr + i), AXIS, F),)
    elif COUNT == 2:
        results = tl.reduce((tl.load(x_ptr + i), tl.load(x_ptr + size + i)), AXIS, F)
    else:
        loaded = (
            tl.load(x_ptr + i),
            tl.load(x_ptr + size + i),
            tl.load(x_ptr + 2 * size + i),
            tl.load(x_ptr + 3 * size + i),
        )
        results = tl.reduce(loaded, AXIS, F)
    for n in tl.static_range(COUNT):
        at = tl.reshape(tl.arange(0, results[n].numel), results[n].shape)
        tl.store(out_ptr + n * results[n].numel + at, results[n])


@triton.jit
def scan_kernel(
    x_ptr,
    out_ptr,
    F: tl.constexpr,
    COUNT: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
):
    i = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    size: tl.constexpr = A * B * C
    if COUNT == 1:
        results = (tl.associative_scan(tl.load(x_ptr + i), AXIS, F, reverse=REVERSE),)
    elif COUNT == 2:
        results = tl.associative_scan((tl.load(x_ptr + i), tl.load(x_ptr + size + i)), AXIS, F, reverse=REVERSE)
    else:
        loaded = (
            tl.load(x_ptr + i),
            tl.load(x_ptr + size + i),
            tl.load(x_ptr + 2 * size + i),
            tl.load(x_ptr + 3 * size + i),
        )
        results = tl.associative_scan(loaded, AXIS, F, reverse=REVERSE)
    for n in tl.static_range(COUNT):
        tl.store(out_ptr + n * size + i, results[n])


@st.composite
def cases(draw: Any) -> tuple[np.ndarray, Any, Callable[[Any, Any], Any], int]:
    """(operands [count, a, b, c], kernel function, the same on tuples of arrays, axis)."""
    shape = tuple(draw(st.sampled_from([1, 2, 4, 8, 3, 5, 7, 13])) for _ in range(3))
    dtype = draw(st.sampled_from([np.int32, np.int64, np.uint32, np.int16]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        function, one = draw(st.sampled_from(ONE))
        count = 1

        def step(x: Any, y: Any) -> Any:
            return (one(x[0], y[0]),)
    else:
        function, count, step = draw(st.sampled_from(SEVERAL))
    limit = draw(st.sampled_from([3, 100, 2**15]))
    x = rng.integers(0 if dtype is np.uint32 else -limit, limit, (count, *shape)).astype(dtype)
    if function is argmax:
        x[1] = rng.permutation(x[1].size).reshape(shape)  # distinct, so that ties have one winner
    return x, function, step, draw(st.integers(0, 2))


def lines_along(x: np.ndarray, axis: int) -> list[tuple[np.ndarray, ...]]:
    """The operands at each place along the axis."""
    return [tuple(np.take(operand, n, axis) for operand in x) for n in range(x.shape[axis + 1])]


@settings(max_examples=150)
@given(cases())
def test_reduce(case: Any) -> None:
    x, function, step, axis = case
    with np.errstate(all="ignore"):
        want = functools.reduce(step, lines_along(x, axis))
    out = np.zeros((len(x), *want[0].shape), x.dtype)
    a, b, c = x.shape[1:]
    reduce_kernel[(1,)](x, out, F=function, COUNT=len(x), AXIS=axis, A=a, B=b, C=c)
    assert out.tolist() == [w.astype(x.dtype).tolist() for w in want], (function, axis, x.shape)


@settings(max_examples=150)
@given(cases(), st.booleans())
def test_scan(case: Any, reverse: bool) -> None:
    x, function, step, axis = case
    places = lines_along(x, axis)
    if reverse:
        places.reverse()
    results = [places[0]]
    with np.errstate(all="ignore"):
        for place in places[1:]:
            results.append(step(results[-1], place))
    if reverse:
        results.reverse()
    want = np.stack([np.stack([r[n] for r in results], axis) for n in range(len(x))]).astype(x.dtype)
    out = np.zeros_like(x)
    a, b, c = x.shape[1:]
    scan_kernel[(1,)](x, out, F=function, COUNT=len(x), AXIS=axis, REVERSE=reverse, A=a, B=b, C=c)
    assert out.tolist() == want.tolist(), (function, axis, reverse, x.shape)


@triton.jit
def saturating_kernel(x_ptr, out_ptr, scan_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.reduce(x, 0, saturating_add))
    tl.store(scan_ptr + tl.arange(0, N), tl.associative_scan(x, 0, saturating_add))


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_functions_with_branches(log_n: int, seed: int) -> None:
    n = 1 << log_n
    x = np.random.default_rng(seed).integers(0, 60, n).astype(np.int32)
    out, scan = np.zeros(1, np.int32), np.zeros(n, np.int32)
    saturating_kernel[(1,)](x, out, scan, N=n)
    sums = np.minimum(np.cumsum(x), 1000)
    assert out[0] == sums[-1]
    assert scan.tolist() == [int(x[0]), *sums[1:].tolist()]
