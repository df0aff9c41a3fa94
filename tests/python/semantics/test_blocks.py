"""Block pointers and tensor descriptors: boundary checks, padding, advancing, gather, scatter and atomics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from semantics_support import DTYPES, NUMPY, assert_same, sample

import trivet as triton
import trivet.language as tl
from trivet.tools.tensor_descriptor import TensorDescriptor


def window(x: np.ndarray, row: int, column: int, rows: int, columns: int, padding: float = 0.0) -> np.ndarray:
    """``x[row : row + rows, column : column + columns]`` with padding where that leaves ``x``."""
    out = np.full((rows, columns), padding).astype(x.dtype)
    for i in range(rows):
        for j in range(columns):
            if 0 <= row + i < x.shape[0] and 0 <= column + j < x.shape[1]:
                out[i, j] = x[row + i, column + j]
    return out


# --- block pointers -----------------------------------------------------------------------------------------------------------------


@triton.jit
def block_kernel(x_ptr, out_ptr, rows, columns, s0, s1, row, column, PADDING: tl.constexpr):
    block = tl.make_block_ptr(
        x_ptr, shape=(rows, columns), strides=(s0, s1), offsets=(row, column), block_shape=(4, 8), order=(1, 0)
    )
    x = tl.load(block, boundary_check=(0, 1), padding_option=PADDING)
    tl.store(out_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :], x)


PLACES = [(0, 0), (4, 8), (8, 16), (9, 17), (-2, -3), (100, 100), (-4, 0), (2, 12)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_block_loads(dtype: str) -> None:
    for x in (sample(dtype, (10, 20)), sample(dtype, (20, 10)).T, sample(dtype, (10, 20))[::-1, ::-1]):
        for row, column in PLACES:
            out = np.zeros((4, 8), NUMPY[dtype])
            strides = [s // x.itemsize for s in x.strides]
            block_kernel[(1,)](x, out, *x.shape, *strides, row, column, PADDING="zero")
            assert_same(out, window(x, row, column, 4, 8), row, column)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_padding(dtype: str) -> None:
    x = sample(dtype, (10, 20))
    for row, column in PLACES:
        out = np.zeros((4, 8), NUMPY[dtype])
        block_kernel[(1,)](x, out, 10, 20, 20, 1, row, column, PADDING="nan")
        assert_same(out, window(x, row, column, 4, 8, np.nan), row, column)


def test_nan_padding_needs_floats() -> None:
    with pytest.raises(triton.errors.CompileError, match="nan|NaN|float"):
        block_kernel[(1,)](sample("int32", (10, 20)), np.zeros((4, 8), np.int32), 10, 20, 20, 1, 0, 0, PADDING="nan")


@triton.jit
def block_copy_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Walks both tensors by advancing, row by row of blocks."""
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (0, 0), (ROWS, COLUMNS), (1, 0))
    target = tl.make_block_ptr(out_ptr, (columns, rows), (rows, 1), (0, 0), (COLUMNS, ROWS), (1, 0))
    for _ in range(0, rows, ROWS):
        for _ in range(0, columns, COLUMNS):
            x = tl.load(source, boundary_check=(0, 1))
            tl.store(target, tl.trans(x), boundary_check=(0, 1))
            source = tl.advance(source, (0, COLUMNS))
            target = target.advance((COLUMNS, 0))
        source = tl.advance(source, (ROWS, -tl.cdiv(columns, COLUMNS) * COLUMNS))
        target = tl.advance(target, [-tl.cdiv(columns, COLUMNS) * COLUMNS, ROWS])


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 16), (17, 33), (3, 40)])
@pytest.mark.parametrize("dtype", ["int8", "float32", "bfloat16"])
def test_walking_by_blocks(rows: int, columns: int, dtype: str) -> None:
    x = sample(dtype, (rows, columns))
    out = np.zeros((columns, rows), NUMPY[dtype])
    block_copy_kernel[(1,)](x, out, rows, columns, ROWS=8, COLUMNS=16)
    assert_same(out, np.ascontiguousarray(x.T))


@triton.jit
def partly_checked_kernel(x_ptr, out_ptr, rows, columns, row):
    block = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (row, 0), (4, 8), (1, 0))
    tl.store(
        out_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :],
        tl.load(block, boundary_check=(0,), padding_option="zero"),
    )


def test_unchecked_axes_must_stay_inside_memory() -> None:
    x = sample("int32", (10, 8))
    out = np.zeros((4, 8), np.int32)
    partly_checked_kernel[(1,)](x, out, 10, 8, 8)
    assert_same(out, window(x, 8, 0, 4, 8))
    short = sample("int32", (10, 7))
    partly_checked_kernel[(1,)](short, out, 10, 7, 0)  # reads on into the next row
    assert_same(out, np.stack([short.ravel()[7 * i : 7 * i + 8] for i in range(4)]))
    with pytest.raises(triton.errors.KernelError):
        partly_checked_kernel[(1,)](short, out, 10, 7, 9)


@triton.jit
def block_1d_and_3d_kernel(x_ptr, out_ptr, n):
    line = tl.make_block_ptr(x_ptr, (n,), (1,), (n - 4,), (8,), (0,))
    tl.store(out_ptr + tl.arange(0, 8), tl.load(line, boundary_check=(0,), padding_option="zero"))
    cube = tl.make_block_ptr(x_ptr, (2, 3, 4), (12, 4, 1), (1, 1, 2), (2, 2, 2), (2, 1, 0))
    at = tl.arange(0, 2)[:, None, None] * 4 + tl.arange(0, 2)[None, :, None] * 2 + tl.arange(0, 2)[None, None, :]
    tl.store(out_ptr + 8 + at, tl.load(cube, boundary_check=[0, 1, 2], padding_option="zero"))


def test_other_ranks() -> None:
    x = np.arange(24, dtype=np.int32)
    out = np.full(16, -1, np.int32)
    block_1d_and_3d_kernel[(1,)](x, out, 24)
    assert out[:8].tolist() == [20, 21, 22, 23, 0, 0, 0, 0]
    assert out[8:].tolist() == [18, 19, 22, 23, 0, 0, 0, 0]


# --- descriptors --------------------------------------------------------------------------------------------------------------------


@triton.jit
def device_descriptor_kernel(x_ptr, out_ptr, rows, columns, row, column, PADDING: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(
        x_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[4, 16], padding_option=PADDING
    )
    out_desc = tl.make_tensor_descriptor(out_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[4, 16])
    tl.static_assert(x_desc.block_shape == [4, 16])
    tl.static_assert(x_desc.dtype == x_ptr.dtype.element_ty)
    out_desc.store([row, column], x_desc.load([row, column]))


@triton.jit
def host_descriptor_kernel(x_desc, out_ptr, row, column):
    x = x_desc.load([row, column])
    tl.store(out_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :], x)
    tl.store(out_ptr + 64, x_desc.shape[0].to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 65, x_desc.strides[0].to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "int1"])
def test_descriptors(dtype: str) -> None:
    x = sample(dtype, (16, 32))
    for row, column in [(0, 0), (4, 8), (14, 28), (-2, -3), (100, 0)]:
        out = np.zeros_like(x)
        device_descriptor_kernel[(1,)](x, out, 16, 32, row, column, PADDING="zero")
        want = np.zeros_like(x)
        r0, c0 = max(row, 0), max(column, 0)
        r1, c1 = max(row + 4, 0), max(column + 16, 0)
        want[r0:r1, c0:c1] = x[r0:r1, c0:c1]
        assert_same(out, want, row, column)
        result = np.zeros(66, NUMPY[dtype])
        descriptor = TensorDescriptor.from_tensor(x, [4, 16])
        host_descriptor_kernel[(1,)](descriptor, result, row, column)
        assert_same(result[:64].reshape(4, 16), window(x, row, column, 4, 16), row, column)
        assert result[64:].astype(float).tolist() == [16, 32]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_descriptor_nan_padding(dtype: str) -> None:
    x = sample(dtype, (16, 32))
    descriptor = TensorDescriptor.from_tensor(x, [4, 16], padding="nan")
    for row, column in [(14, 28), (-2, -3), (0, 0)]:
        result = np.zeros(66, NUMPY[dtype])
        host_descriptor_kernel[(1,)](descriptor, result, row, column)
        assert_same(result[:64].reshape(4, 16), window(x, row, column, 4, 16, np.nan), row, column)


@pytest.mark.needs_torch
def test_torch_descriptors(torch: Any) -> None:
    x = torch.randn(16, 32, dtype=torch.bfloat16)
    result = torch.zeros(66, dtype=torch.bfloat16)
    host_descriptor_kernel[(1,)](TensorDescriptor.from_tensor(x, [4, 16]), result, 3, 5)
    assert torch.equal(result[:64].reshape(4, 16), x[3:7, 5:21])


@triton.jit
def gather_scatter_kernel(x_ptr, out_ptr, rows_ptr, rows, columns, column):
    x_desc = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [1, 8])
    out_desc = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [1, 8])
    at = tl.load(rows_ptr + tl.arange(0, 8))
    x = x_desc.gather(at, column)
    tl.static_assert(x.shape == (8, 8))
    out_desc.scatter(x, at, column)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_gather_and_scatter(dtype: str) -> None:
    x = sample(dtype, (16, 32))
    rows = np.array([3, 0, 15, 7, 8, 1, 2, 12], np.int32)
    for column in (0, 5, 28):
        out = np.zeros_like(x)
        gather_scatter_kernel[(1,)](x, out, rows, 16, 32, column)
        want = np.zeros_like(x)
        want[rows, column : column + 8] = x[rows, column : column + 8]
        assert_same(out, want, column)


@triton.jit
def desc_atomic_kernel(out_desc, KIND: tl.constexpr):
    value = tl.full((4, 8), 5, out_desc.dtype) + tl.arange(0, 8)[None, :].to(out_desc.dtype)
    row = tl.program_id(0) * 2
    if KIND == "add":
        out_desc.atomic_add([row, 4], value)
    elif KIND == "min":
        out_desc.atomic_min([row, 4], value)
    elif KIND == "max":
        out_desc.atomic_max([row, 4], value)
    elif KIND == "and":
        out_desc.atomic_and([row, 4], value)
    elif KIND == "or":
        out_desc.atomic_or([row, 4], value)
    else:
        out_desc.atomic_xor([row, 4], value)


@pytest.mark.parametrize("kind", ["add", "min", "max", "and", "or", "xor"])
def test_descriptor_atomics(kind: str) -> None:
    functions = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    x = sample("int32", (8, 8)) % 16
    want = x.copy()
    value = np.broadcast_to(5 + np.arange(8, dtype=np.int32), (4, 8))
    for program in range(4):  # overlapping rows, and columns that stick out
        part = want[2 * program : 2 * program + 4, 4:]
        part[...] = functions[kind](part, value[: part.shape[0], :4])
    desc_atomic_kernel[(4,)](TensorDescriptor.from_tensor(x, [4, 8]), KIND=kind)
    assert_same(x, want)


@triton.jit
def ranks_kernel(x_ptr, out_ptr, n):
    i = tl.arange(0, 4)
    line = tl.make_tensor_descriptor(x_ptr, [64], [1], [4])
    if n > 1:
        line = tl.make_tensor_descriptor(x_ptr + 2, [60], [1], [4])
    acc = tl.zeros((4,), tl.float32)
    for k in range(0, 64, 16):
        acc += line.load([k])
    tl.store(out_ptr + i, acc)
    cube = tl.make_tensor_descriptor(x_ptr, [2, 4, 8], [32, 8, 1], [1, 2, 4])
    cube_at = tl.arange(0, 8)
    tl.store(out_ptr + 4 + cube_at, tl.reshape(cube.load([1, 3, 2]), (8,)))


@pytest.mark.parametrize("n", [1, 2])
def test_descriptors_of_other_ranks_through_control_flow(n: int) -> None:
    x = np.arange(64, dtype=np.float32)
    out = np.zeros(12, np.float32)
    ranks_kernel[(1,)](x, out, n)
    first = 0 if n == 1 else 2
    assert out[:4].tolist() == [sum(x[first + k + i] for k in range(0, 64, 16)) for i in range(4)]
    assert out[4:].tolist() == [58, 59, 60, 61, 0, 0, 0, 0]


@triton.jit
def narrow_descriptor_kernel(x_ptr):
    tl.make_tensor_descriptor(x_ptr, shape=[8, 8], strides=[8, 1], block_shape=[4, 8])


def test_rows_of_a_block_have_16_bytes() -> None:
    narrow_descriptor_kernel[(1,)](np.zeros((8, 8), np.int16))
    with pytest.raises(triton.errors.CompileError, match="at least 16 bytes"):
        narrow_descriptor_kernel[(1,)](np.zeros((8, 8), np.int8))


@triton.jit
def tensor_functions_kernel(x_desc, out_ptr):
    x = tl.load_tensor_descriptor(x_desc, [0, 0])
    tl.store_tensor_descriptor(x_desc, [4, 0], x + 1)
    tl.store(out_ptr, tl.sum(x))


def test_functions_instead_of_methods() -> None:
    x = sample("float32", (8, 8))
    before = x.copy()
    tensor_functions_kernel[(1,)](TensorDescriptor.from_tensor(x, [4, 8]), np.zeros(1, np.float32))
    assert_same(x[4:], before[:4] + 1)


@pytest.mark.parametrize(
    ("shape", "strides", "block"),
    [((8, 8), (8, 2), (4, 4)), ((8, 8), (8,), (4, 4)), ((8, 8), (9, 1), (4, 4)), ((8, 8), (8, 1), (4,))],
)
def test_wrong_host_descriptors(shape: tuple[int, ...], strides: tuple[int, ...], block: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="stride|entries"):
        TensorDescriptor(np.zeros((8, 16), np.float32), list(shape), list(strides), list(block))
