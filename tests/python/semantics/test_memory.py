"""Loads and stores: masks, ``other``, strides of every kind, views, scalars, bools, tables of pointers, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from semantics_support import DTYPES, NUMPY, assert_same, edges, sample

import trivet as triton
import trivet.language as tl


@triton.jit
def masked_copy_kernel(x_ptr, out_ptr, mask_ptr, N: tl.constexpr, OTHER: tl.constexpr):
    i = tl.arange(0, N)
    mask = tl.load(mask_ptr + i)
    if OTHER is None:
        x = tl.load(x_ptr + i, mask=mask)
    else:
        x = tl.load(x_ptr + i, mask=mask, other=OTHER)
    tl.store(out_ptr + i, x)
    tl.store(out_ptr + N + i, x, mask=mask)


MASKS = {
    "all": np.ones(16, bool),
    "none": np.zeros(16, bool),
    "some": np.arange(16) % 3 == 0,
    "first": np.arange(16) == 0,
    "last": np.arange(16) == 15,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask: str, dtype: str) -> None:
    x = edges(dtype)
    keep = MASKS[mask]
    for other in (None, 1):
        before = np.full(32, 1).astype(NUMPY[dtype])
        out = before.copy()
        masked_copy_kernel[(1,)](x, out, keep, N=16, OTHER=other)
        # Without `other` the interpreter gives 0, as GPUs do.
        filled = np.where(keep, x, np.full(16, other or 0).astype(NUMPY[dtype]))
        assert_same(out[:16], filled, mask, other)
        assert_same(out[16:], np.where(keep, x, before[16:]), mask, other)


def test_masked_lanes_touch_nothing() -> None:
    x = np.arange(4, dtype=np.float32)
    out = np.zeros(8, np.float32)
    keep = np.arange(8) < 4
    masked_copy_kernel[(1,)](x, np.zeros(16, np.float32), keep, N=8, OTHER=7)
    masked_copy_kernel[(1,)](x[:0], np.zeros(16, np.float32), np.zeros(8, bool), N=8, OTHER=7)
    with pytest.raises(triton.errors.KernelError, match="x_ptr|out"):
        masked_copy_kernel[(1,)](x, out, np.ones(8, bool), N=8, OTHER=None)


@triton.jit
def other_tile_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=i * 10))
    tl.store(out_ptr + N + i, tl.load(x_ptr + i, i < n, -1.5))


def test_other_may_be_a_tile_and_is_converted() -> None:
    x = np.arange(8, dtype=np.int16)
    out = np.zeros(16, np.int16)
    other_tile_kernel[(1,)](x, out, 3, N=8)
    assert out.tolist() == [0, 1, 2, 30, 40, 50, 60, 70, 0, 1, 2, -1, -1, -1, -1, -1]


# --- two dimensions ----------------------------------------------------------------------------------------------------------------


@triton.jit
def copy2d_kernel(x_ptr, out_ptr, rows, columns, sx0, sx1, so0, so1, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    mask = (r < rows) & (c < columns)
    tl.store(out_ptr + r * so0 + c * so1, tl.load(x_ptr + r * sx0 + c * sx1, mask=mask, other=0), mask=mask)


def strides_of(x: Any) -> list[int]:
    return list(x.stride()) if hasattr(x, "stride") else [s // x.itemsize for s in x.strides]


def copied(x: Any, out: Any) -> None:
    copy2d_kernel[(1,)](x, out, *x.shape, *strides_of(x), *strides_of(out), R=16, C=16)


NUMPY_VIEWS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "rows backwards": lambda x: x[::-1],
    "columns backwards": lambda x: x[:, ::-1],
    "both backwards": lambda x: x[::-1, ::-1],
    "every other": lambda x: x[::2, 1::2],
    "every third backwards": lambda x: x[::-3, ::-1],
    "middle": lambda x: x[3:7, 2:9],
    "one row": lambda x: x[5:6],
    "one column": lambda x: x[:, 4:5],
    "repeated row": lambda x: np.broadcast_to(x[2], (8, 16)),
    "repeated element": lambda x: np.broadcast_to(x[2, 3], (8, 8)),
    "fortran": np.asfortranarray,
}


@pytest.mark.parametrize("view", NUMPY_VIEWS)
@pytest.mark.parametrize("dtype", ["int8", "float16", "bfloat16", "float64", "int1"])
def test_numpy_views(view: str, dtype: str) -> None:
    x = NUMPY_VIEWS[view](sample(dtype, (12, 16)))
    x = x[:16, :16]
    out = np.zeros(x.shape, NUMPY[dtype])
    copied(x, out)
    assert_same(out, np.ascontiguousarray(x), view)
    if x.flags.writeable and 0 not in x.strides:
        base = np.zeros((12, 16), NUMPY[dtype])
        target = NUMPY_VIEWS[view](base)
        copied(np.ascontiguousarray(x), target)
        assert_same(np.ascontiguousarray(target), np.ascontiguousarray(x), view)


TORCH_VIEWS = {
    "transposed": lambda x: x.t(),
    "strided": lambda x: x[1::2, ::3],
    "expanded": lambda x: x[1:2].expand(8, 16),
    "diagonal twice": lambda x: x.as_strided((8, 2), (17, 1)),
    "narrowed": lambda x: x.narrow(0, 3, 4).narrow(1, 5, 8),
    "unfolded": lambda x: x[0].unfold(0, 4, 2),
}


@pytest.mark.needs_torch
@pytest.mark.parametrize("view", TORCH_VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "uint8", "float8_e5m2"])
def test_torch_views(torch: Any, view: str, dtype: str) -> None:
    x = torch.arange(12 * 16).reshape(12, 16).to(getattr(torch, dtype))
    x = TORCH_VIEWS[view](x)
    out = torch.zeros(tuple(x.shape), dtype=x.dtype)
    copied(x, out)
    assert torch.equal(
        out.view(torch.uint8) if "float8" in dtype else out,
        (x.contiguous().view(torch.uint8) if "float8" in dtype else x),
    )


@pytest.mark.needs_torch
def test_torch_results_land_in_the_view(torch: Any) -> None:
    base = torch.zeros(8, 8)
    copied(torch.ones(4, 4), base[::2, ::2])
    assert base.sum() == 16 and base[::2, ::2].sum() == 16


# --- scalars ------------------------------------------------------------------------------------------------------------------------


@triton.jit
def scalar_kernel(x_ptr, out_ptr, n):
    total = tl.load(x_ptr)
    for i in range(1, n):
        total += tl.load(x_ptr + i)
    tl.store(out_ptr, total)
    if n > 100:
        tl.store(out_ptr + 1, total)
    tl.store(out_ptr + 2, total, mask=n > 2)
    tl.store(out_ptr + 3, tl.load(x_ptr + 1000000, mask=n > 1000000, other=5))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "uint64"])
def test_scalar_pointers(dtype: str) -> None:
    x = np.arange(1, 9).astype(dtype)
    out = np.zeros(4, dtype)
    scalar_kernel[(1,)](x, out, 8)
    assert out.tolist() == [36, 0, 36, 5]


@triton.jit
def spread_kernel(x_ptr, out_ptr, N: tl.constexpr):
    """A tile of one address, and a scalar stored to a tile of pointers."""
    same = tl.load(x_ptr + tl.zeros((N,), tl.int32))
    tl.store(out_ptr + tl.arange(0, N), same)
    tl.store(out_ptr + N + tl.arange(0, N), tl.load(x_ptr + 1))


def test_one_address_many_times() -> None:
    out = np.zeros(16, np.int32)
    spread_kernel[(1,)](np.array([3, 4], np.int32), out, N=8)
    assert out.tolist() == [3] * 8 + [4] * 8


@triton.jit
def last_wins_kernel(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i // 4, i)


def test_of_several_stores_to_one_address_the_last_stays() -> None:
    out = np.zeros(4, np.int32)
    last_wins_kernel[(1,)](out, N=16)
    assert out.tolist() == [3, 7, 11, 15]


# --- bool ---------------------------------------------------------------------------------------------------------------------------


@triton.jit
def bool_kernel(flags_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    flags = tl.load(flags_ptr + i)
    tl.static_assert(flags.dtype == tl.int1)
    tl.store(out_ptr + i, ~flags)


def test_bool_tensors() -> None:
    flags = np.arange(8) % 3 == 0
    out = np.zeros(8, bool)
    bool_kernel[(1,)](flags, out, N=8)
    assert_same(out, ~flags)
    # Any byte but 0 is true; what is stored is 0 or 1.
    bytes_ = np.array([0, 1, 2, 255, 128, 0, 7, 64], np.uint8)
    bool_kernel[(1,)](bytes_.view(bool), out, N=8)
    assert out.view(np.uint8).tolist() == [int(b == 0) for b in bytes_]


# --- pointers in memory ----------------------------------------------------------------------------------------------------------------


@triton.jit
def table_kernel(table_ptr, sizes_ptr, out_ptr, N: tl.constexpr):
    """Sums each of several arrays; their addresses are in memory, as in a grouped product."""
    which = tl.program_id(0)
    x_ptr = tl.load(table_ptr + which).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < tl.load(sizes_ptr + which), other=0.0)
    tl.store(out_ptr + which, tl.sum(x))


def test_tables_of_pointers() -> None:
    arrays = [np.arange(n, dtype=np.float32) for n in (3, 16, 1, 7)]
    table = np.array([a.ctypes.data for a in arrays], np.int64)
    out = np.zeros(4, np.float32)
    table_kernel[(4,)](table, np.array([a.size for a in arrays], np.int32), out, N=16)
    assert out.tolist() == [a.sum() for a in arrays]
    with pytest.raises(triton.errors.KernelError, match="null"):
        table_kernel[(1,)](np.zeros(1, np.int64), np.ones(1, np.int32), out, N=16)


@triton.jit
def pointers_to_pointers_kernel(table_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    table = table_ptr.to(tl.pointer_type(tl.pointer_type(tl.float32)), bitcast=True)
    second = tl.load(table + 1)
    tl.store(out_ptr + i, tl.load(second + i))
    tl.store(out_ptr + N + i, tl.load(tl.load(table + i % 2) + i))


def test_pointers_to_pointers() -> None:
    x = np.arange(16, dtype=np.float32)
    table = np.array([x.ctypes.data, x[8:].ctypes.data], np.int64)
    out = np.zeros(16, np.float32)
    pointers_to_pointers_kernel[(1,)](table, out, N=8)
    assert out.tolist() == [*x[8:], *(x[i + 8 * (i % 2)] for i in range(8))]


@triton.jit
def pointer_arithmetic_kernel(x_ptr, out_ptr):
    end = x_ptr + 8
    tl.store(out_ptr, tl.load(end - 1))
    tl.store(out_ptr + 1, tl.load(2 + x_ptr))
    negative = tl.full((), -3, tl.int8)
    tl.store(out_ptr + 2, tl.load(end + negative))
    large = tl.full((), 4, tl.uint64)
    tl.store(out_ptr + 3, tl.load(x_ptr + large))
    tl.store(out_ptr + 4, (end > x_ptr).to(tl.int32))
    tl.store(out_ptr + 5, (end == x_ptr + 8).to(tl.int32))
    tl.store(out_ptr + 6, (end.to(tl.int64) - x_ptr.to(tl.int64)).to(tl.int32))
    halves = x_ptr.to(tl.pointer_type(tl.int16), bitcast=True)
    tl.store(out_ptr + 7, tl.load(halves + 2))


def test_pointer_arithmetic() -> None:
    x = np.arange(10, 18, dtype=np.int32)
    out = np.zeros(8, np.int32)
    pointer_arithmetic_kernel[(1,)](x, out)
    assert out.tolist() == [17, 12, 15, 14, 1, 1, 32, 11]


@triton.jit
def chosen_pointer_kernel(x_ptr, y_ptr, out_ptr, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    if flag:
        source = x_ptr
    else:
        source = y_ptr
    tl.store(out_ptr + i, tl.load(source + i))
    mixed = tl.where(i % 2 == 0, x_ptr + i, y_ptr + i)
    tl.store(out_ptr + N + i, tl.load(mixed))


def test_pointers_may_be_chosen() -> None:
    x, y = np.arange(8, dtype=np.float32), -np.arange(8, dtype=np.float32)
    out = np.zeros(16, np.float32)
    for flag in (True, False):
        chosen_pointer_kernel[(1,)](x, y, out, flag, N=8)
        assert out[:8].tolist() == (x if flag else y).tolist()
        assert out[8:].tolist() == [float(v if i % 2 == 0 else -v) for i, v in enumerate(x)]


# --- modifiers and errors ----------------------------------------------------------------------------------------------------------------


@triton.jit
def modifiers_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
    x += tl.load(x_ptr + i, cache_modifier=".ca", eviction_policy="evict_first")
    tl.debug_barrier()
    i = tl.max_contiguous(tl.multiple_of(i, 4), 4)
    tl.store(out_ptr + i, x, cache_modifier=".wb", eviction_policy="evict_first")
    tl.store(out_ptr + i, x, cache_modifier=".cs")


def test_modifiers_change_no_value() -> None:
    out = np.zeros(8, np.int32)
    modifiers_kernel[(1,)](np.arange(8, dtype=np.int32), out, N=8)
    assert out.tolist() == [2 * i for i in range(8)]


@triton.jit
def offset_kernel(x_ptr, out_ptr, offset, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + offset + i, tl.load(x_ptr + i))


@pytest.mark.parametrize("offset", [1, -1, 1 << 20, -(1 << 40)])
def test_out_of_bounds_is_an_error(offset: int) -> None:
    x, out = np.ones(8, np.int32), np.zeros(8, np.int32)
    with pytest.raises(triton.errors.KernelError, match="out_ptr|out of|outside"):
        offset_kernel[(1,)](x, out, offset, N=8)


def test_read_only_arrays_are_not_written() -> None:
    x, out = np.ones(8, np.int32), np.zeros(8, np.int32)
    out.flags.writeable = False
    with pytest.raises(triton.errors.KernelError, match="read-only"):
        offset_kernel[(1,)](x, out, 0, N=8)
    assert not out.any()


@triton.jit
def wrong_mask_kernel(x_ptr, N: tl.constexpr):
    tl.load(x_ptr, mask=tl.arange(0, N) < 3)


@triton.jit
def wrong_value_kernel(x_ptr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), tl.zeros((2 * N,), tl.float32))


@triton.jit
def other_without_mask_kernel(x_ptr, N: tl.constexpr):
    tl.load(x_ptr + tl.arange(0, N), other=1.0)


@triton.jit
def not_a_pointer_kernel(x_ptr, N: tl.constexpr):
    tl.load(tl.arange(0, N))


@pytest.mark.parametrize(
    "kernel", [wrong_mask_kernel, wrong_value_kernel, other_without_mask_kernel, not_a_pointer_kernel]
)
def test_refusals(kernel: Any) -> None:
    with pytest.raises(triton.errors.CompileError):
        kernel[(1,)](np.zeros(8, np.float32), N=4)


@triton.jit
def grid_kernel(out_ptr, X, Y):
    x, y, z = tl.program_id(0), tl.program_id(axis=1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + at, x + 10 * y + 100 * z)


@pytest.mark.parametrize("grid", [(1,), (5,), (3, 4), (2, 3, 4), (1, 1, 6)])
def test_grids(grid: tuple[int, ...]) -> None:
    x, y, z = (*grid, 1, 1)[:3]
    out = np.full((z, y, x), -1, np.int32)
    grid_kernel[grid](out, x, y)
    want = np.arange(x)[None, None, :] + 10 * np.arange(y)[None, :, None] + 100 * np.arange(z)[:, None, None]
    assert_same(out, want.astype(np.int32))


def test_an_empty_grid_runs_nothing() -> None:
    out = np.full(1, -1, np.int32)
    grid_kernel[(0,)](out, 0, 0)
    assert out[0] == -1
