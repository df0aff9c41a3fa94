"""Functions called from kernels: defaults, keywords, constexprs, tuples; and tuples themselves; and what is printed and asserted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl

SCALE = tl.constexpr(3)


@triton.jit
def affine(x, scale=2, *, shift: tl.constexpr = 1):
    return x * scale + shift


@triton.jit
def extremes(x, y):
    return tl.minimum(x, y), tl.maximum(x, y)


@triton.jit
def nested(x, DEPTH: tl.constexpr):
    if DEPTH == 0:
        return x
    return nested_again(x, DEPTH - 1) + 1


@triton.jit
def nested_again(x, DEPTH: tl.constexpr):
    if DEPTH == 0:
        return x * 10
    return affine(x, shift=DEPTH)


@triton.jit
def apply(function: tl.constexpr, x, *rest):
    return function(x, *rest)


@triton.jit
def store_at(ptr, index, value):
    tl.store(ptr + index, value)


@triton.constexpr_function
def padded(n, multiple):
    return (n + multiple - 1) // multiple * multiple


@triton.jit
def _helpers_kernel(out_ptr, x):
    store_at(out_ptr, 0, affine(x))
    store_at(out_ptr, 1, affine(x, 5))
    store_at(out_ptr, 2, affine(x, scale=5, shift=7))
    store_at(out_ptr, value=affine(scale=x, x=4), index=3)
    low, high = extremes(x, 3)
    store_at(out_ptr, 4, low * 100 + high)
    store_at(out_ptr, 5, nested(x, 2))
    store_at(out_ptr, 6, apply(affine, x, SCALE))
    store_at(out_ptr, 7, extremes(9, x)[1])
    size: tl.constexpr = padded(13, 8)
    tl.static_assert(size == 16)
    store_at(out_ptr, 8, tl.sum(tl.full((size,), 1, tl.int32)) + SCALE)
    store_at(out_ptr, 9, tl.cdiv(x, 4) + triton.cdiv(x, 3) + triton.next_power_of_2(5))


@pytest.mark.parametrize("x", [7, 1])
def test_helpers(x: int) -> None:
    out = np.zeros(10, np.int64)
    _helpers_kernel[(1,)](out, x)
    want = [2 * x + 1, 5 * x + 1, 5 * x + 7, 4 * x + 1, min(x, 3) * 100 + max(x, 3), 2 * x + 1 + 1, 3 * x + 1, max(9, x), 19,
            -(-x // 4) - (-x // 3) + 8]  # fmt: skip
    assert out.tolist() == want


@triton.jit
def _sign_and_size(x):
    if x > 0:
        return 1, x
    return -1, -x


@triton.jit
def _tuples_kernel(out_ptr, x, pair, N: tl.constexpr):
    i = tl.arange(0, N)
    together = (x, 2 * x, i)
    tl.static_assert(len(together) == 3)
    first, second, tile = together
    tl.store(out_ptr, first + second)
    tl.store(out_ptr + 1, tl.sum(together[2] + tile))
    more = together[:2] + (5,)
    tl.static_assert(len(more) == 3)
    total = 0
    for item in tl.static_range(3):
        total += more[item]
    tl.store(out_ptr + 2, total)
    a, (b, c) = 1, (x, 3)
    a, b = b, a
    tl.store(out_ptr + 3, 100 * a + 10 * b + c)
    tl.store(out_ptr + 4, pair[0] * pair[1][0])
    sign, size = _sign_and_size(-x)
    tl.store(out_ptr + 5, sign * size * 2)
    tl.store(out_ptr + 6, more[-1])
    tl.static_assert(more[2] == 5)
    first, *_ = more
    tl.store(out_ptr + 7, first)


def test_tuples() -> None:
    out = np.zeros(8, np.int64)
    _tuples_kernel[(1,)](out, 7, (6, (7, 8)), N=4)
    assert out[:7].tolist() == [21, 12, 26, 713, 42, -14, 5]


class Tensor2D(NamedTuple):
    """A tensor with what is needed to address it."""

    ptr: Any
    rows: int
    columns: int


@triton.jit
def row_sum(tensor, row, N: tl.constexpr):
    i = tl.arange(0, N)
    return tl.sum(tl.load(tensor.ptr + row * tensor.columns + i, mask=i < tensor.columns, other=0))


@triton.jit
def _named_tuple_kernel(tensor, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out_ptr + row, row_sum(tensor, row, N))
    if row == 0:
        tl.store(out_ptr + tensor.rows, tensor[2])


def test_named_tuples() -> None:
    x = np.arange(15, dtype=np.int32).reshape(3, 5)
    out = np.zeros(4, np.int32)
    _named_tuple_kernel[(3,)](Tensor2D(x, 3, 5), out, N=8)
    assert out.tolist() == [*x.sum(1), 5]


@triton.jit
def _optional_kernel(x_ptr, bias_ptr, out_ptr, flag, SCALE_BY: tl.constexpr = 1, N: tl.constexpr = 4):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i)
    if flag:
        x = -x
    tl.store(out_ptr + i, x * SCALE_BY)


def test_optional_arguments() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    _optional_kernel[(1,)](x, None, out, False)
    assert out.tolist() == [0, 1, 2, 3]
    _optional_kernel[(1,)](x, x, out, flag=True, SCALE_BY=10)
    assert out.tolist() == [0, -20, -40, -60]


@triton.jit
def _annotated_kernel(out_ptr, a: tl.int64, b: tl.float64, c: tl.int8):
    tl.static_assert(a.dtype == tl.int64)
    tl.static_assert(b.dtype == tl.float64)
    tl.static_assert(c.dtype == tl.int8)
    tl.store(out_ptr, a + b + c)


def test_annotated_arguments() -> None:
    out = np.zeros(1)
    _annotated_kernel[(1,)](out, 1, 0.1, 2)
    assert out[0] == 3.1


# --- output and checks --------------------------------------------------------------------------------------------------------------------


@triton.jit
def _print_kernel(x_ptr, n, N: tl.constexpr):
    tl.device_print("row ", n, tl.load(x_ptr + tl.arange(0, N)))
    tl.device_print("hex: ", n, hex=True)
    print("plain", n)


def test_prints(capfd: pytest.CaptureFixture[str]) -> None:
    _print_kernel[(2,)](np.array([1.5, -2.0], np.float32), 255, N=2)
    text = capfd.readouterr().out
    for part in ("row", "255", "1.5", "-2", "hex", "ff", "plain"):
        assert part in text, (part, text)
    assert text.count("plain") == 2


@triton.jit
def _static_print_kernel(N: tl.constexpr):
    tl.static_print("N is", N, tl.float16)


def test_static_print(capfd: pytest.CaptureFixture[str]) -> None:
    _static_print_kernel.warmup(N=12)
    assert "N is 12" in capfd.readouterr().out


@triton.jit
def _assert_kernel(x_ptr, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.device_assert(x < limit, "x must stay below the limit", mask=i < 3)
    tl.assume(limit > 0)


def test_device_assert() -> None:
    x = np.array([1, 2, 3, 100], np.int32)
    _assert_kernel[(1,)](x, 10, N=4, debug=True)  # the 100 is masked off
    with pytest.raises(triton.errors.KernelError, match="below the limit"):
        _assert_kernel[(1,)](x, 3, N=4, debug=True)


@triton.jit
def _static_assert_kernel(N: tl.constexpr):
    tl.static_assert(N % 2 == 0, "N must be even")


def test_static_assert() -> None:
    _static_assert_kernel[(1,)](N=4)
    with pytest.raises(triton.errors.CompileError, match="N must be even"):
        _static_assert_kernel[(1,)](N=5)
