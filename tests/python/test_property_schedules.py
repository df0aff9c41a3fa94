"""The four schedules: equal results without order dependence; a seeded random schedule repeats itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trivet as triton
import trivet.language as tl

SCHEDULES = ["in_order", "random", "threads", "round_robin"]


@triton.jit
def mixed_kernel(x_ptr, out_ptr, sums_ptr, counts_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """Own stores, commuting atomics, and a loop whose length differs between programs."""
    me = tl.program_id(0)
    i = me * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    acc = x
    for k in range(me % 5):
        if k == 3:
            break
        acc = acc * 3 + k
    tl.store(out_ptr + i, acc, mask=i < n)
    tl.atomic_add(sums_ptr, tl.sum(acc))
    tl.atomic_max(sums_ptr + 1, tl.max(acc))
    tl.atomic_xor(sums_ptr + 2, tl.xor_sum(acc))
    tl.atomic_add(counts_ptr + (x & (BINS - 1)), 1, mask=i < n)


def run_mixed(x: np.ndarray, programs: int) -> tuple[list[int], ...]:
    out, sums, counts = np.zeros_like(x), np.full(3, -(2**31), np.int32), np.zeros(8, np.int32)
    mixed_kernel[(programs,)](x, out, sums, counts, x.size, BLOCK=16, BINS=8)
    return out.tolist(), sums.tolist(), counts.tolist()


@settings(max_examples=40)
@given(st.integers(1, 400), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_schedules_agree(size: int, seed: int, threads: int) -> None:
    x = np.random.default_rng(seed).integers(-1000, 1000, size).astype(np.int32)
    programs = -(-size // 16)
    results = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIVET_THREADS", str(threads))
        patch.setenv("TRIVET_SEED", str(seed % 1000))
        for schedule in SCHEDULES:
            patch.setenv("TRIVET_SCHEDULE", schedule)
            results.append(run_mixed(x, programs))
    assert all(r == results[0] for r in results)


@triton.jit
def order_kernel(ticket_ptr, order_ptr, product_ptr):
    """Writes down in which order programs take their tickets, and folds their numbers in that order."""
    me = tl.program_id(0)
    for turn in range(3):
        ticket = tl.atomic_add(ticket_ptr, 1)
        tl.store(order_ptr + ticket, me * 3 + turn)
    tl.atomic_add(product_ptr, 1.0 / (me + 3))  # a float sum depends on the order


def order_of(programs: int) -> tuple[list[int], float]:
    ticket, order, product = np.zeros(1, np.int32), np.full(3 * programs, -1, np.int32), np.zeros(1, np.float32)
    order_kernel[(programs,)](ticket, order, product)
    assert sorted(order.tolist()) == list(range(3 * programs))
    return order.tolist(), float(product[0])


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(0, 2**31))
def test_a_seed_repeats(programs: int, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIVET_SCHEDULE", "random")
        patch.setenv("TRIVET_SEED", str(seed))
        assert order_of(programs) == order_of(programs)


@pytest.mark.parametrize("schedule", ["in_order", "round_robin"])
def test_fixed_schedules_repeat(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULE", schedule)
    assert order_of(20) == order_of(20)


def test_in_order_is_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULE", "in_order")
    order, _ = order_of(9)
    assert order == list(range(27))


def test_seeds_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULE", "random")
    orders = set()
    for seed in range(10):
        monkeypatch.setenv("TRIVET_SEED", str(seed))
        orders.add(tuple(order_of(12)[0]))
    assert len(orders) == 10


def test_unknown_schedules_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULE", "backwards")
    with pytest.raises((triton.errors.TrivetError, ValueError), match="backwards"):
        order_of(1)
