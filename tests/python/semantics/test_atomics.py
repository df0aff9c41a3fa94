"""Atomic operations: every kind and type, returned values, masks, duplicate addresses, keywords, locks between programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics_support import NUMPY, assert_same, round_to, sample
from test_compare_and_select import extreme

import trivet as triton
import trivet.language as tl


@triton.jit
def rmw_kernel(ptr, value_ptr, index_ptr, mask_ptr, old_ptr, F: tl.constexpr, MASKED: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = ptr + tl.load(index_ptr + i)
    value = tl.load(value_ptr + i)
    if MASKED:
        old = F(at, value, mask=tl.load(mask_ptr + i))
    else:
        old = F(at, value)
    tl.static_assert(old.dtype == value.dtype)
    tl.store(old_ptr + i, old)


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda old, new: new,
}


def combined(kind: str, old: np.ndarray, value: np.ndarray) -> np.ndarray:
    if kind in ("max", "min") and old.dtype.kind not in "iu":
        return extreme(old, value, kind == "max", propagate=False)
    if kind == "add" and old.dtype.kind not in "iu" and old.dtype.itemsize < 4:
        name = "float16" if old.dtype == np.float16 else "bfloat16"
        return round_to(old.astype(float) + value.astype(float), name)
    with np.errstate(all="ignore"):
        return KINDS[kind](old, value)


def run(kind: str, dtype: str, index: np.ndarray, mask: np.ndarray | None, slots: int) -> None:
    memory = sample(dtype, (slots,), seed=4)
    value = sample(dtype, (index.size,), seed=5)
    want, want_old = memory.copy(), np.zeros(index.size, NUMPY[dtype])
    for n, at in enumerate(index):  # one after the other
        if mask is None or mask[n]:
            want_old[n] = want[at]
            want[at] = combined(kind, want[at : at + 1], value[n : n + 1])[0]
    old = np.full(index.size, 1).astype(NUMPY[dtype])
    keep = np.ones(index.size, bool) if mask is None else mask
    function = getattr(tl, f"atomic_{kind}")
    rmw_kernel[(1,)](
        memory, value, index.astype(np.int32), keep, old, F=function, MASKED=mask is not None, N=index.size
    )
    assert_same(memory, want, kind, dtype)
    assert_same(old, want_old, kind, dtype)


INTEGERS = ["int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
CASES = [(k, d) for k in KINDS for d in INTEGERS] + [(k, d) for k in ("add", "max", "min", "xchg") for d in FLOATS]


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_every_kind_and_type(kind: str, dtype: str) -> None:
    distinct = np.random.default_rng(0).permutation(32)
    duplicates = np.random.default_rng(1).integers(0, 5, 32)
    for index in (distinct, duplicates, np.zeros(32, int)):
        run(kind, dtype, index, None, 32)
        run(kind, dtype, index, np.arange(32) % 3 != 0, 32)
        run(kind, dtype, index, np.zeros(32, bool), 32)
    run(kind, dtype, np.zeros(1, int), None, 1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_zeros(dtype: str) -> None:
    """min and max ignore NaN and order the zeros."""
    memory = np.array([np.nan, 1.0, 0.0, -0.0, np.nan, -np.inf, np.inf, 5.0]).astype(NUMPY[dtype])
    value = np.array([1.0, np.nan, -0.0, 0.0, np.nan, 1.0, np.nan, -5.0]).astype(NUMPY[dtype])
    for kind in ("max", "min"):
        got, old = memory.copy(), np.zeros_like(memory)
        function = getattr(tl, f"atomic_{kind}")
        rmw_kernel[(1,)](got, value, np.arange(8, dtype=np.int32), np.ones(8, bool), old, F=function, MASKED=False, N=8)
        assert_same(got, extreme(memory, value, kind == "max", propagate=False), kind)
        assert_same(old, memory)


# --- compare and swap --------------------------------------------------------------------------------------------------------------------


@triton.jit
def cas_kernel(ptr, compare_ptr, value_ptr, old_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    old = tl.atomic_cas(ptr + i, tl.load(compare_ptr + i), tl.load(value_ptr + i))
    tl.store(old_ptr + i, old)


@pytest.mark.parametrize("dtype", ["int16", "uint16", *INTEGERS, *FLOATS])
def test_compare_and_swap(dtype: str) -> None:
    memory, value = sample(dtype, (32,), 1), sample(dtype, (32,), 2)
    compare = np.where(np.arange(32) % 2 == 0, memory, value)
    old, got = np.zeros_like(memory), memory.copy()
    cas_kernel[(1,)](got, compare, value, old, N=32)
    assert_same(old, memory)
    assert_same(got, np.where(np.arange(32) % 2 == 0, value, memory))


def test_compare_and_swap_compares_bits() -> None:
    memory = np.array([-0.0, np.nan, 0.0, 1.0], np.float32)
    compare = np.array([0.0, np.nan, 0.0, 1.0], np.float32)
    got, old = memory.copy(), np.zeros(4, np.float32)
    cas_kernel[(1,)](got, compare, np.full(4, 9, np.float32), old, N=4)
    assert_same(got, np.array([-0.0, 9, 9, 9], np.float32))


# --- between programs -----------------------------------------------------------------------------------------------------------------------


@triton.jit
def count_kernel(counter_ptr, seen_ptr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    old = tl.atomic_add(counter_ptr, 1, sem=SEM, scope=SCOPE)
    tl.store(seen_ptr + old, tl.program_id(0))


@pytest.mark.parametrize("sem", [None, "relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", [None, "cta", "gpu", "sys"])
def test_orders_and_scopes(sem: str | None, scope: str | None) -> None:
    counter, seen = np.zeros(1, np.int32), np.full(64, -1, np.int32)
    count_kernel[(64,)](counter, seen, SEM=sem, SCOPE=scope)
    assert counter[0] == 64 and sorted(seen) == list(range(64))


@triton.jit
def lock_kernel(lock_ptr, total_ptr, N: tl.constexpr):
    """An update that is no atomic operation, under a lock."""
    i = tl.arange(0, N)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr + i, tl.load(total_ptr + i) * 3 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("schedule", ["in_order", "random", "threads", "round_robin"])
def test_locks(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULE", schedule)
    total = np.zeros(8, np.int64)
    lock_kernel[(20,)](np.zeros(1, np.int32), total, N=8)
    assert total.tolist() == [(3**20 - 1) // 2] * 8


@triton.jit
def look_back_kernel(x_ptr, sums_ptr, flags_ptr, out_ptr, N: tl.constexpr):
    """A prefix sum over programs: each waits for the one before it."""
    me = tl.program_id(0)
    i = me * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    before = 0
    if me > 0:
        while tl.atomic_add(flags_ptr + me - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sums_ptr + me - 1)
    tl.store(sums_ptr + me, before + tl.sum(x))
    tl.atomic_xchg(flags_ptr + me, 1, sem="release")
    tl.store(out_ptr + i, before + tl.cumsum(x, 0))


@pytest.mark.parametrize("schedule", ["in_order", "random", "threads", "round_robin"])
def test_look_back(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULE", schedule)
    x = np.arange(256, dtype=np.int32)
    out = np.zeros_like(x)
    look_back_kernel[(16,)](x, np.zeros(16, np.int32), np.zeros(16, np.int32), out, N=16)
    assert_same(out, np.cumsum(x, dtype=np.int32))


@triton.jit
def deadlock_kernel(flag_ptr):
    while tl.atomic_add(flag_ptr + tl.program_id(0), 0) == 0:
        pass


def test_a_deadlock_is_reported() -> None:
    with pytest.raises(triton.errors.TrivetError, match="[Dd]eadlock|wait"):
        deadlock_kernel[(2,)](np.zeros(2, np.int32))


# --- scalars, numbers, refusals ----------------------------------------------------------------------------------------------------------------


@triton.jit
def number_kernel(ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr, tl.atomic_add(ptr, 2))
    tl.store(out_ptr + 1, tl.atomic_max(ptr, 100.0))
    tl.atomic_add(ptr + 1 + tl.arange(0, N), 1.5)
    tl.atomic_add(ptr + tl.zeros((N,), tl.int32), tl.arange(0, N))
    tl.atomic_add(ptr + 1, 1, mask=False)
    tl.atomic_add(ptr + 1, 1, mask=N > 2)


def test_numbers_and_conversion() -> None:
    memory, out = np.zeros(5, np.float32), np.zeros(2, np.float32)
    number_kernel[(1,)](memory, out, N=4)
    assert out.tolist() == [0, 2]
    assert memory.tolist() == [106, 2.5, 1.5, 1.5, 1.5]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("add", "int8"), ("add", "int16"), ("and", "float32"), ("xor", "float16"), ("add", "int1"), ("max", "float8e5")],
)
def test_refusals(kind: str, dtype: str) -> None:
    x = np.zeros(4, NUMPY[dtype])
    with pytest.raises(triton.errors.CompileError, match="not support|not defined"):
        rmw_kernel[(1,)](
            x, x, np.zeros(4, np.int32), np.ones(4, bool), x, F=getattr(tl, f"atomic_{kind}"), MASKED=False, N=4
        )  # fmt: skip


def test_unknown_order() -> None:
    with pytest.raises(triton.errors.CompileError, match="relaxed"):
        count_kernel[(1,)](np.zeros(1, np.int32), np.zeros(1, np.int32), SEM="strict", SCOPE=None)


@triton.jit
def misaligned_kernel(ptr):
    odd = (ptr.to(tl.int64) + 2).to(tl.pointer_type(tl.int32))
    tl.atomic_add(odd, 1)


def test_misaligned_addresses_are_errors() -> None:
    with pytest.raises(triton.errors.KernelError, match="align"):
        misaligned_kernel[(1,)](np.zeros(4, np.int32))
