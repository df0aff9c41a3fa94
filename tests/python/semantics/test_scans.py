"""``cumsum``, ``cumprod`` and ``associative_scan``: axes, direction, types, tuples, against one step after another in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from semantics_support import INTEGERS, NUMPY, assert_same, round_to, sample, transform

import trivet as triton
import trivet.language as tl


@triton.jit
def _scan_kernel(
    x_ptr,
    out_ptr,
    F: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    DTYPE: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
):
    i = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    result = F(tl.load(x_ptr + i), AXIS, REVERSE)
    tl.static_assert(result.dtype == DTYPE)
    tl.static_assert(result.shape == (A, B))
    tl.store(out_ptr + i, result)


def scanned(function: Any, x: np.ndarray, axis: int, reverse: bool, dtype: str) -> np.ndarray:
    out = np.zeros(x.shape, NUMPY[dtype])
    a, b = x.shape
    _scan_kernel[(1,)](x, out, F=function, AXIS=axis, REVERSE=reverse, DTYPE=getattr(tl, dtype), A=a, B=b)
    return out


@triton.jit
def running_sum(x, axis, reverse):
    return tl.cumsum(x, axis, reverse=reverse)


@triton.jit
def running_product(x, axis, reverse):
    return tl.cumprod(x, axis, reverse=reverse)


DIRECTIONS = [(axis, reverse) for axis in (0, 1, -1) for reverse in (False, True)]
WIDER = {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}


def along(reference: Any, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    """``reference`` along an axis, from the other end if ``reverse``."""
    turned = np.flip(x, axis) if reverse else x
    result = reference(turned, axis)
    return np.ascontiguousarray(np.flip(result, axis) if reverse else result)


@pytest.mark.parametrize(("axis", "reverse"), DIRECTIONS)
def test_integers(axis: int, reverse: bool) -> None:
    for dtype in INTEGERS:
        for shape in ((8, 16), (1, 4), (4, 1), (5, 11)):
            x = sample(dtype, shape)
            wide = WIDER.get(dtype, dtype)
            want = along(lambda v, a, wide=wide: np.cumsum(v, a, dtype=wide), x, axis, reverse)
            assert_same(scanned(running_sum, x, axis, reverse, wide), want, dtype)
            want = along(lambda v, a, dtype=dtype: np.cumprod(v, a, dtype=dtype), x, axis, reverse)
            assert_same(scanned(running_product, x, axis, reverse, dtype), want, dtype)


def one_by_one(dtype: str, multiply: bool) -> Any:
    """A scan that rounds every step to ``dtype``."""

    def scan(x: np.ndarray, axis: int) -> np.ndarray:
        columns = np.moveaxis(x.astype(NUMPY[dtype]), axis, 0)
        results = [columns[0]]
        for column in columns[1:]:
            a, b = results[-1].astype(np.float64), column.astype(np.float64)
            results.append(round_to(a * b if multiply else a + b, dtype))
        return np.moveaxis(np.stack(results), 0, axis)

    return scan


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("axis", "reverse"), DIRECTIONS)
def test_floats_to_the_bit(axis: int, reverse: bool, dtype: str) -> None:
    x = sample(dtype, (8, 16))
    wide = "float32" if dtype == "bfloat16" else dtype
    assert_same(scanned(running_sum, x, axis, reverse, wide), along(one_by_one(wide, False), x, axis, reverse))
    assert_same(scanned(running_product, x, axis, reverse, wide), along(one_by_one(wide, True), x, axis, reverse))


# --- any function ------------------------------------------------------------------------------------------------------------------


@triton.jit
def keep_larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_maximum(x, axis, reverse):
    return tl.associative_scan(x, axis, keep_larger, reverse=reverse)


@triton.jit
def decay(gain1, value1, gain2, value2):
    """Composition of v -> gain * v + value, first 1 and then 2."""
    return gain1 * gain2, gain2 * value1 + value2


@triton.jit
def recurrence(x, axis, reverse):
    gains = tl.full(x.shape, 3, x.dtype)
    _, value = tl.associative_scan((gains, x), axis, decay, reverse=reverse)
    return value


@triton.jit
def last_nonzero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def forward_fill(x, axis, reverse):
    return x.associative_scan(axis, last_nonzero, reverse=reverse)


@triton.jit
def segment_step(value1, flag1, value2, flag2):
    """A sum that starts again at each flag."""
    return tl.where(flag2 != 0, value2, value1 + value2), flag1 | flag2


@triton.jit
def segmented_sum(x, axis, reverse):
    flags = (x % 4 == 0).to(tl.int8)
    value, _ = tl.associative_scan((x, flags), axis, segment_step, reverse=reverse)
    return value


def _fold(x: np.ndarray, axis: int, step: Any) -> np.ndarray:
    columns = np.moveaxis(x, axis, 0)
    results = [columns[0]]
    for column in columns[1:]:
        results.append(step(results[-1], column))
    return np.moveaxis(np.stack(results), 0, axis)


@pytest.mark.parametrize(("axis", "reverse"), DIRECTIONS)
def test_any_function(axis: int, reverse: bool) -> None:
    x = sample("int32", (8, 16)) % 100
    table = {
        running_maximum: np.maximum,
        recurrence: lambda a, b: 3 * a + b,
        forward_fill: lambda a, b: np.where(b != 0, b, a),
        segmented_sum: lambda a, b: np.where(b % 4 == 0, b, a + b),
    }
    x = np.where(x % 3 == 0, 0, x).astype(np.int32)
    x = np.abs(x)  # // and % of the language round towards zero
    with np.errstate(over="ignore"):
        for function, step in table.items():
            want = along(lambda v, a, step=step: _fold(v, a, step), x, axis, reverse).astype(np.int32)
            assert_same(scanned(function, x, axis, reverse, "int32"), want, function.__name__)


@triton.jit
def cumsum_of_mask(x):
    return tl.cumsum(x > 0, 0)


@triton.jit
def cumsum_in_float64(x):
    return tl.cumsum(x, 0, dtype=tl.float64)


@triton.jit
def cumsum_of_cumsum(x):
    return tl.cumsum(tl.cumsum(tl.reshape(x, (4, 4, 4)), 2), 0)


def test_other_types_and_ranks() -> None:
    x = sample("float32", (64,))
    assert_same(transform(cumsum_of_mask, "uint32", (64,), x), np.cumsum(x > 0).astype(np.uint32))
    assert_same(transform(cumsum_in_float64, "float64", (64,), x), np.cumsum(x.astype(np.float64)))
    x = np.arange(64, dtype=np.int32)
    want = x.reshape(4, 4, 4).cumsum(2, dtype=np.int32).cumsum(0, dtype=np.int32)
    assert_same(transform(cumsum_of_cumsum, "int32", (4, 4, 4), x), want)


@triton.jit
def wrong_axis(x):
    return tl.cumsum(x, 1)


@triton.jit
def wrong_results(x):
    return tl.associative_scan(x, 0, decay)


@pytest.mark.parametrize("function", [wrong_axis, wrong_results])
def test_refusals(function: Any) -> None:
    with pytest.raises(triton.errors.CompileError):
        transform(function, "float32", (4,), sample("float32", (4,)))
