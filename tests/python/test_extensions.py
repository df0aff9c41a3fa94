"""The extensions of docs/extensions.md: what they mean, and that TRIVET_PORTABLE names their use."""

import warnings

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet.errors import OutOfBoundsError


@triton.jit
def floors(x_ptr, y_ptr, quotient_ptr, rest_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(quotient_ptr + i, tl.floor_divide(x, y))
    tl.store(rest_ptr + i, tl.floor_mod(x, y))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32"])
def test_floor_division(dtype):
    signed = np.dtype(dtype).kind == "i"
    x = np.array([7, -7, 7, -7, 6, -6, 0, 100], np.int64)
    y = np.array([2, 2, -2, -2, 3, -3, 5, -7], np.int64)
    x, y = (x, y) if signed else (np.abs(x), np.abs(y))
    x, y = x.astype(dtype), y.astype(dtype)
    quotient, rest = np.zeros_like(x), np.zeros_like(x)
    floors[(1,)](x, y, quotient, rest, N=8)
    assert quotient.tolist() == (x // y).tolist()
    assert rest.tolist() == (x % y).tolist()


@triton.jit
def twelve(out_ptr):
    i = tl.arange(0, 12)
    tl.store(out_ptr + i, i * i)
    tl.store(out_ptr + 12, tl.sum(i) * 1000 + tl.max(i) * 10 + tl.min(i))
    tl.store(out_ptr + 13 + tl.arange(0, 3), tl.sum(tl.reshape(i, (3, 4)), axis=1))


def test_extents_that_are_not_powers_of_two():
    out = np.full(20, -1, np.int32)
    twelve[(1,)](out)
    assert out.tolist() == [v * v for v in range(12)] + [66110, 6, 22, 38] + [-1] * 4


@triton.jit
def neutral(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + 0, tl.max(x, axis=0))
    tl.store(out_ptr + 1, tl.min(x, axis=0))
    tl.store(out_ptr + 2, tl.argmax(x, axis=0))
    tl.store(out_ptr + 3 + tl.arange(0, N), tl.cumsum(x, axis=0))
    tl.store(out_ptr + 3 + N + tl.arange(0, N), tl.sort(x))


@pytest.mark.parametrize("n", [1, 3, 5, 7, 13])
def test_no_padding_is_seen(n):
    """All negative, then all positive: a zero that filled up the tile would win one of them."""
    for sign in (-1, 1):
        x = (sign * (np.arange(n) % 5 + 1)).astype(np.int32)
        out = np.zeros(3 + 2 * n, np.int32)
        neutral[(1,)](x, out, N=n)
        want = [x.max(), x.min(), x.argmax(), *np.cumsum(x), *np.sort(x)]
        assert out.tolist() == [int(v) for v in want]


@triton.jit
def leave_loops(out_ptr, n, stop):
    total = 0
    for j in range(n, 0, -2):
        if j == 8:
            continue
        if j <= stop:
            break
        total += j
    tl.store(out_ptr, total)
    count = 0
    while count < 100:
        count += 1
        if count * count > n:
            break
    tl.store(out_ptr + 1, count)
    unrolled = 0
    for j in tl.static_range(10):
        if j == 5:
            break
        if j % 2 == 0:
            continue
        unrolled += j
    tl.store(out_ptr + 2, unrolled)
    for j in range(100):
        if j * j > n:
            tl.store(out_ptr + 3, j)
            return
    tl.store(out_ptr + 3, -1)


def test_break_continue_return():
    out = np.zeros(4, np.int32)
    leave_loops[(1,)](out, 12, 4)
    assert out.tolist() == [12 + 10 + 6, 4, 4, 4]


@triton.jit
def items(out_ptr, i, v):
    x = tl.arange(0, 8) * 10
    tl.store(out_ptr, x[3] + x[-1] + x[i])
    x[2:5] = x[5:8]
    x[0] = v
    x[i] = -v
    tl.store(out_ptr + 1 + tl.arange(0, 8), x)
    m = tl.reshape(tl.arange(0, 12), (3, 4))
    m[1, :] = 100
    m[:, 2] = m[:, 0] + 1
    m[i, 3] = 7
    tl.store(out_ptr + 9 + tl.arange(0, 3)[:, None] * 4 + tl.arange(0, 4)[None, :], m)
    tl.store(out_ptr + 21 + tl.arange(0, 2), m[0, ::2])


def test_indices():
    out = np.zeros(23, np.int32)
    items[(1,)](out, 1, 5)
    x = np.arange(8) * 10
    scalar = x[3] + x[-1] + x[1]
    x[2:5] = x[5:8].copy()
    x[0], x[1] = 5, -5
    m = np.arange(12).reshape(3, 4)
    m[1, :] = 100
    m[:, 2] = m[:, 0] + 1
    m[1, 3] = 7
    assert out.tolist() == [scalar, *x, *m.ravel(), *m[0, ::2]]


@triton.jit
def rows(out_ptr, i, j):
    m = tl.reshape(tl.arange(0, 24), (2, 3, 4))
    tl.store(out_ptr + tl.arange(0, 4), m[i, j])
    tl.store(out_ptr + 4 + tl.arange(0, 4), tl.sum(m[i], 0))
    tl.store(out_ptr + 8 + tl.arange(0, 4), m[:, j, 1::2].reshape(4))
    tl.store(out_ptr + 12 + tl.arange(0, 2), m[1, j, ::3])
    m[:, j, :] = m[:, j, :] + m[i, 0, None, :]
    tl.store(out_ptr + 14 + tl.arange(0, 24), m.reshape(24))


@pytest.mark.parametrize(("i", "j"), [(0, 0), (1, 2)])
def test_rows_at_run_time_indices(i, j):
    out = np.zeros(38, np.int32)
    rows[(1,)](out, i, j)
    m = np.arange(24).reshape(2, 3, 4)
    expected = [*m[i, j], *m[i].sum(0), *m[:, j, 1::2].ravel(), *m[1, j, ::3]]
    m[:, j, :] = m[:, j, :] + m[i, 0, None, :]
    assert out.tolist() == [*expected, *m.ravel()]


def test_a_row_outside_is_an_error():
    with pytest.raises(OutOfBoundsError):
        rows[(1,)](np.zeros(38, np.int32), 0, 3)


@triton.jit
def clamp_integers(out_ptr):
    tl.store(out_ptr + tl.arange(0, 16), tl.clamp(tl.arange(0, 16), 3, 9))


def test_clamp_of_integers():
    out = np.zeros(16, np.int32)
    clamp_integers[(1,)](out)
    assert out.tolist() == np.clip(np.arange(16), 3, 9).tolist()


@pytest.mark.parametrize(
    "kernel, arguments, words",
    [
        (twelve, (), "power of 2"),
        (leave_loops, (12, 4), "'continue'"),
        (items, (1, 5), "index"),
        (clamp_integers, (), "only floats"),
    ],
)
def test_portable(kernel, arguments, words, monkeypatch):
    out = np.zeros(32, np.int32)
    monkeypatch.setenv("TRIVET_PORTABLE", "error")
    with pytest.raises(triton.CompilationError, match=words):
        kernel[(1,)](out, *arguments)
    monkeypatch.setenv("TRIVET_PORTABLE", "warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[(1,)](out, *arguments)
    assert any(words in str(w.message) and "test_extensions.py" in str(w.message) for w in caught)
    monkeypatch.setenv("TRIVET_PORTABLE", "sometimes")
    with pytest.raises(ValueError, match="off, warn or error"):
        kernel[(1,)](out, *arguments)


@triton.jit
def lambdas(out_ptr, n):
    scale = 3
    f = lambda x: x * scale + n  # noqa: E731
    x = tl.arange(0, 8)
    tl.store(out_ptr, tl.reduce(f(x), 0, lambda a, b: a + b))
    scale = 4  # a lambda sees its names as they are when it is called
    tl.store(out_ptr + 1, tl.sum(f(x), 0))
    half: tl.constexpr = (lambda a: a // 2)(8)
    tl.store(
        out_ptr + 2 + tl.arange(0, half), tl.associative_scan(tl.arange(0, half), 0, lambda a, b: tl.maximum(a, b))
    )
    tl.store(out_ptr + 6, tl.reduce(x, 0, lambda a, b: a + b + n))


def test_lambdas():
    out = np.zeros(7, np.int32)
    lambdas[(1,)](out, 5)
    assert out.tolist() == [3 * 28 + 40, 4 * 28 + 40, 0, 1, 2, 3, 28 + 7 * 5]
