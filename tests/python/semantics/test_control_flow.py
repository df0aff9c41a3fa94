"""``if``, ``for``, ``while``, early ``return``, ``break``, ``continue``, ternaries and unrolled loops, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl

# Each kernel is run as Python too: `tl.store(out_ptr, value)` is its last act, `n` and `m` are its inputs. So the reference
# for a function below is a twin of the same text, compared by test_twins_are_twins.


@triton.jit
def branches(n, m):
    if n < 0:
        x = -n
    elif n == 0:
        x = m
    elif n < 5:
        if m > 2:
            x = n * m
        else:
            x = n - m
    else:
        x = 100
    return x


@triton.jit
def one_armed(n, m):
    x = m
    if n > 3:
        x += n
    if n > 3 and m > 3:
        x += 1000
    if n > 5 or m > 5:
        x += 10000
    if not (n > 3):
        x -= 7
    return x


@triton.jit
def ternary(n, m):
    x = n if n > m else m
    return (x if x > 4 else -x) + (1 if n == m else 2 if n < m else 3)


@triton.jit
def for_loops(n, m):
    total = 0
    for i in range(n):
        total += i
    for i in range(m, n):
        total += 10 * i
    for i in range(0, n, 3):
        total += 100 * i
    for i in range(n, 0, -2):
        total += 1000 * i
    return total


@triton.jit
def nested_loops(n, m):
    total = 0
    for i in range(n):
        for j in range(i, m):
            if (i + j) % 2 == 0:
                for k in range(2):
                    total += i * j + k
            else:
                total -= j
    return total


@triton.jit
def loop_carried_pair(n, m):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, (a + b) % 1000
    return a + m


@triton.jit
def while_loop(n, m):
    steps = 0
    while n > 1 and steps < 100:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps + m


@triton.jit
def breaks(n, m):
    total = 0
    for i in range(100):
        if i == n:
            break
        if i % 3 == m % 3:
            continue
        total += i
    return total


@triton.jit
def breaks_out_of_while(n, m):
    total = 0
    while True:
        n -= 1
        if n < 0:
            break
        if n % 2 == 1:
            continue
        total += n * m
    return total


@triton.jit
def breaks_in_nests(n, m):
    total = 0
    for i in range(n):
        for j in range(10):
            if j > i:
                break
            if j == m:
                continue
            k = 0
            while k < 5:
                k += 1
                if k == 3:
                    continue
                if k == j:
                    break
                total += k
        total += 100
        if total > 1500:
            break
    return total


@triton.jit
def early_return(n, m):
    if n < 0:
        return -1
    if m < 0:
        if n > 3:
            return -2
        return -3
    total = 0
    for i in range(n):
        total += i * m
    return total


@triton.jit
def return_from_loop(n, m):
    for i in range(n):
        if i * i > m:
            return i
    return -1


@triton.jit
def calls_with_returns(n, m):
    return early_return(n, m) * 3 + return_from_loop(n, m)


@triton.jit
def loop_variable_afterwards(n, m):
    i = 55
    for i in range(n):  # noqa: B007
        pass
    last = m
    for j in range(3):
        last = j
    return i * 100 + last


@triton.jit
def assigned_names(n, m):
    x = n
    if (y := x + m) > 3:
        x = y * 2
    while (x := x - 3) > 0:
        y += 1
    return x + 100 * y


@triton.jit
def short_circuit(n, m):
    """The right side of `and` runs only where the left holds: else this divides by zero, which gives -1 and no error."""
    if m != 0 and n % m == 0:
        return 1
    return 0


CASES = [branches, one_armed, ternary, for_loops, nested_loops, loop_carried_pair, while_loop, breaks, breaks_out_of_while,
         breaks_in_nests, early_return, return_from_loop, calls_with_returns, assigned_names, short_circuit]  # fmt: skip


@triton.jit
def _run_kernel(out_ptr, n, m, F: tl.constexpr):
    tl.store(out_ptr, F(n, m))


def as_python(function: Any) -> Any:
    """The same source as a Python function, with the kernels that it calls replaced likewise."""
    twins = {"early_return": early_return.fn, "return_from_loop": return_from_loop.fn}
    python = type(function.fn)(function.fn.__code__, {**function.fn.__globals__, **twins})
    return python


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_in_python(function: Any) -> None:
    python = as_python(function)
    for n in (-2, 0, 1, 2, 3, 4, 6, 7, 13):
        for m in (-1, 0, 1, 2, 3, 5, 8):
            if m < 0 and function is breaks:
                continue  # % of a negative number differs
            out = np.full(1, -999, np.int32)
            _run_kernel[(1,)](out, n, m, F=function)
            assert out[0] == python(n, m), (function.__name__, n, m)


@triton.jit
def _early_return_kernel(out_ptr, n):
    tl.store(out_ptr, 1)
    if n > 3:
        return
    tl.store(out_ptr, 2)
    if tl.program_id(0) > 0:
        tl.store(out_ptr + 1, 3)
        return
    tl.store(out_ptr + 2, 4)


def test_return_leaves_the_kernel() -> None:
    for n, want in ((5, [1, 0, 0]), (2, [2, 3, 4])):
        out = np.zeros(3, np.int32)
        _early_return_kernel[(2,)](out, n)
        assert out.tolist() == want


# --- compile-time decisions -----------------------------------------------------------------------------------------------------------------


@triton.jit
def _static_kernel(out_ptr, N: tl.constexpr, MODE: tl.constexpr):
    total = 0
    for i in tl.static_range(N):
        x: tl.constexpr = i * i
        tl.static_assert(x >= 0)
        total += x
    for i in tl.static_range(2, 10, 3):
        total += 1000 * i
    for i in tl.static_range(3, 0, -1):
        total = total * 2 + i
    if MODE == "twice":
        total = total * 2
    elif MODE is None:
        total = total + tl.this_name_does_not_exist  # never compiled
    else:
        shaped = tl.full((4,), total, tl.int64)  # another type than in the first branch
        total = tl.sum(shaped)
    tl.store(out_ptr, total)


def test_static_control_flow() -> None:
    total = sum(i * i for i in range(5)) + 1000 * (2 + 5 + 8)
    for i in (3, 2, 1):
        total = total * 2 + i
    out = np.zeros(1, np.int64)
    _static_kernel[(1,)](out, N=5, MODE="twice")
    assert out[0] == 2 * total
    _static_kernel[(1,)](out, N=5, MODE="sum")
    assert out[0] == 4 * total


@triton.jit
def _tile_loop_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    """Tiles, scalars, pointers and tuples carried through loops; hints on the range."""
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    best = tl.full((N,), -float("inf"), tl.float32)
    state = (0, acc)
    ptr = x_ptr + i
    for k in tl.range(0, n, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True, flatten=True):
        x = tl.load(ptr)
        acc += x
        best = tl.maximum(best, x)
        state = (state[0] + k, state[1] + x * x)
        ptr += N
    tl.store(out_ptr + i, acc)
    tl.store(out_ptr + N + i, best)
    tl.store(out_ptr + 2 * N + i, state[1])
    tl.store(out_ptr + 3 * N, state[0])


@pytest.mark.parametrize("n", [0, 1, 7])
def test_tiles_through_loops(n: int) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (7, 8)).astype(np.float32)
    out = np.zeros((4, 8), np.float32)
    _tile_loop_kernel[(1,)](x, out, n, N=8)
    assert out[0].tolist() == x[:n].sum(0).tolist()
    assert out[1].tolist() == (x[:n].max(0) if n else np.full(8, -np.inf)).tolist()
    assert out[2].tolist() == (x[:n] ** 2).sum(0).tolist()
    assert out[3, 0] == n * (n - 1) // 2


@triton.jit
def _wide_range_kernel(out_ptr, start, stop, step):
    count = 0
    last = start
    for i in range(start, stop, step):
        count += 1
        last = i
    tl.store(out_ptr, count)
    tl.store(out_ptr + 1, last)


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0, 2**31 - 1, 2**29),
        (2**31 - 3, 2**31 - 1, 5),
        (-(2**31), 2**31 - 1, 2**30),
        (2**40, 2**40 + 5, 2),
        (5, -5, -3),
        (3, 3, 1),
        (7, 3, 1),
    ],
)
def test_ranges_near_the_ends(start: int, stop: int, step: int) -> None:
    out = np.zeros(2, np.int64)
    _wide_range_kernel[(1,)](out, start, stop, step)
    counted = range(start, stop, step)
    assert out.tolist() == [len(counted), counted[-1] if len(counted) else start]


def test_a_step_of_zero_is_an_error() -> None:
    with pytest.raises(triton.errors.KernelError, match="step"):
        _wide_range_kernel[(1,)](np.zeros(2, np.int64), 0, 5, 0)


@triton.jit
def _changes_type_kernel(out_ptr, n):
    x = 1
    for _ in range(n):
        x = tl.full((4,), 1.0, tl.float32)
    tl.store(out_ptr, x)


@triton.jit
def _undefined_kernel(out_ptr, n):
    if n > 3:
        x = 1
    tl.store(out_ptr, x)


@triton.jit
def _tile_condition_kernel(out_ptr, n):
    if tl.arange(0, 4) > n:
        tl.store(out_ptr, 1)


@pytest.mark.parametrize("kernel", [_changes_type_kernel, _undefined_kernel, _tile_condition_kernel])
def test_refusals(kernel: Any) -> None:
    with pytest.raises(triton.errors.CompileError):
        kernel[(1,)](np.zeros(4, np.float32), 5)


def test_endless_loops_stop_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_MAX_STEPS", "10000")
    with pytest.raises(triton.errors.TrivetError, match="more than 10000 ops"):
        _wide_range_kernel[(1,)](np.zeros(2, np.int64), 2**40, 2**60, 1)
