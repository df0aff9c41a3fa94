"""Loads and stores through random views: any rank, stride, sign of stride, mask and element type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trivet as triton
import trivet.language as tl

DTYPES = [np.int8, np.uint16, np.int32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.bool_]


@triton.jit
def copy_kernel(
    x_ptr, out_ptr, n0, n1, n2, x0, x1, x2, o0, o1, o2, other, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr
):  # fmt: skip
    i = tl.arange(0, B0)[:, None, None]
    j = tl.arange(0, B1)[None, :, None]
    k = tl.program_id(0) * B2 + tl.arange(0, B2)[None, None, :]
    mask = (i < n0) & (j < n1) & (k < n2)
    x = tl.load(x_ptr + i * x0 + j * x1 + k * x2, mask=mask, other=other)
    tl.store(out_ptr + i * o0 + j * o1 + k * o2, x, mask=mask)


def strides_of(x: np.ndarray) -> list[int]:
    return [s // x.itemsize for s in x.strides]


@st.composite
def views(draw: Any, writeable: bool) -> tuple[np.ndarray, np.ndarray]:
    """(base, a view of rank 3 of it, none of its extents above 8)."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    extents = draw(st.tuples(*[st.integers(1, 9)] * 3))
    base = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 100, extents).astype(dtype)
    view = base
    for axis in range(3):
        step = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        start = draw(st.integers(0, extents[axis] - 1))
        cut = slice(start, None, step)
        view = view[(slice(None),) * axis + (cut,)]
    view = view.transpose(draw(st.permutations(range(3))))
    view = view[:8, :8, :8]
    if not writeable and draw(st.booleans()):
        axis = draw(st.integers(0, 2))
        first = view[(slice(None),) * axis + (slice(0, 1),)]
        shape = list(first.shape)
        shape[axis] = draw(st.integers(1, 8))
        view = np.broadcast_to(first, shape)  # stride 0
    return base, view


def power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()


@settings(max_examples=150)
@given(views(writeable=False), st.sampled_from([1, 2, 4]))
def test_loads_from_any_view(both: tuple[np.ndarray, np.ndarray], width: int) -> None:
    _, view = both
    out = np.zeros(view.shape, view.dtype)
    blocks = [power_of_two(n) for n in view.shape[:2]]
    grid = (-(-view.shape[2] // width),)
    copy_kernel[grid](
        view, out, *view.shape, *strides_of(view), *strides_of(out), 0, B0=blocks[0], B1=blocks[1], B2=width
    )
    assert out.tobytes() == np.ascontiguousarray(view).tobytes()


@settings(max_examples=150)
@given(views(writeable=True), st.tuples(*[st.integers(0, 8)] * 3))
def test_stores_to_any_view_touch_nothing_else(
    both: tuple[np.ndarray, np.ndarray], extents: tuple[int, int, int]
) -> None:
    """Only the first ``extents`` of the view are written; a mask may leave no lane at all."""
    base, view = both
    source = np.ones(view.shape, view.dtype)
    n = [min(a, b) for a, b in zip(extents, view.shape, strict=True)]
    blocks = [power_of_two(e) for e in view.shape]
    before = base.copy()
    copy_kernel[(1,)](
        source, view, *n, *strides_of(source), *strides_of(view), 0, B0=blocks[0], B1=blocks[1], B2=blocks[2]
    )
    got = base.copy()
    # The same by NumPy.
    base[...] = before
    view[: n[0], : n[1], : n[2]] = 1
    assert got.tobytes() == base.tobytes()


@triton.jit
def gather_kernel(x_ptr, index_ptr, keep_ptr, out_ptr, other, N: tl.constexpr):
    i = tl.arange(0, N)
    keep = tl.load(keep_ptr + i)
    at = tl.load(index_ptr + i)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=keep, other=other))
    tl.store(x_ptr + at, i, mask=keep)


@settings(max_examples=150)
@given(
    st.integers(0, 6),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.int16, np.int32, np.float32, np.int64]),
)
def test_random_gather_and_scatter(log_n: int, size: int, seed: int, dtype: type) -> None:
    """Masked-off lanes have wild indices; of several stores to one place the last stays."""
    n = 1 << log_n
    rng = np.random.default_rng(seed)
    x = rng.integers(-100, 100, size).astype(dtype)
    keep = rng.integers(0, 3, n) > 0
    index = np.where(keep, rng.integers(0, size, n), rng.integers(-(2**40), 2**40, n))
    out, memory = np.zeros(n, dtype), x.copy()
    gather_kernel[(1,)](memory, index, keep, out, -7, N=n)
    want = x.copy()
    for lane in np.flatnonzero(keep):
        want[index[lane]] = lane
    assert out.tolist() == [x[at] if k else -7 for at, k in zip(index, keep, strict=True)]
    assert memory.tolist() == want.tolist()


@triton.jit
def contiguous_kernel(x_ptr, out_ptr, low, high, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(
        out_ptr + i, tl.load(x_ptr + i, mask=(i >= low) & (i < high), other=1), mask=(i >= low - 3) & (i < high + 2)
    )


@settings(max_examples=100)
@given(st.integers(0, 7), st.integers(1, 200), st.integers(-5, 220), st.integers(-5, 220), st.sampled_from(DTYPES))
def test_windows_of_a_vector(log_n: int, size: int, low: int, high: int, dtype: Any) -> None:
    """Masks that are runs of lanes: full, empty, prefix, suffix, middle. Programs past the end touch nothing."""
    low, high = max(low, 3), min(high, size - 2)
    x = (np.arange(size) % 50).astype(dtype)
    out = np.zeros(size, dtype)
    n = 1 << log_n
    contiguous_kernel[(-(-size // n) + 1,)](x, out, low, high, N=n)
    want = np.zeros(size, dtype)
    written = np.arange(size)[(np.arange(size) >= low - 3) & (np.arange(size) < high + 2)]
    want[written] = np.ones(1, dtype)[0]
    if low < high:
        want[low:high] = x[low:high]
    assert out.tobytes() == want.tobytes()


@triton.jit
def read_at_kernel(x_ptr, out_ptr, offset, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + offset + i))


@triton.jit
def write_at_kernel(x_ptr, out_ptr, offset, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + offset + i, tl.load(x_ptr + i))


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(-40, 40), st.booleans())
def test_bounds_are_exact(size: int, offset: int, reads: bool) -> None:
    """A lane outside the tensor is an error if its mask is set, however far or near it is."""
    owner = np.arange(size, dtype=np.int32)
    other = np.zeros(100, np.int32)
    inside = 0 <= offset and offset + 4 <= size
    kernel, arguments = (read_at_kernel, (owner, other)) if reads else (write_at_kernel, (other, owner))
    if inside:
        kernel[(1,)](*arguments, offset, N=4)
    else:
        with pytest.raises(triton.errors.KernelError):
            kernel[(1,)](*arguments, offset, N=4)
