"""Broadcasting and the operations that move elements, against NumPy, for every element type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics_support import DTYPES, NUMPY, assert_same, sample, transform

import trivet as triton
import trivet.language as tl


@triton.jit
def reshape(x):
    return tl.reshape(x, (2, 16))


@triton.jit
def reshape_by_numbers(x):
    return x.reshape(16, 2)


@triton.jit
def view(x):
    return x.view(32)


@triton.jit
def ravel(x):
    return tl.ravel(x)


@triton.jit
def transpose(x):
    return tl.trans(x)


@triton.jit
def transpose_attribute(x):
    return x.T


@triton.jit
def permute(x):
    return tl.permute(tl.reshape(x, 2, 4, 4), (2, 0, 1))


@triton.jit
def permute_by_numbers(x):
    return x.reshape(2, 4, 4).permute(1, 2, 0)


@triton.jit
def trans_by_numbers(x):
    return tl.trans(tl.reshape(x, (2, 4, 4)), 0, 2, 1)


@triton.jit
def trans_of_three(x):
    return tl.trans(tl.reshape(x, (2, 4, 4)))


@triton.jit
def expand_dims(x):
    return tl.expand_dims(x, 1)


@triton.jit
def expand_last(x):
    return tl.expand_dims(x, -1)


@triton.jit
def expand_several(x):
    return tl.expand_dims(x, (0, -1))


@triton.jit
def index_none(x):
    return x[None, :, None, :]


@triton.jit
def broadcast_to(x):
    return tl.broadcast_to(x[:, :, None], (4, 8, 4))


@triton.jit
def broadcast_by_numbers(x):
    return x.expand_dims(0).broadcast_to(2, 4, 8)


@triton.jit
def flip_last(x):
    return tl.flip(x)


@triton.jit
def flip_first(x):
    return tl.flip(x, 0)


@triton.jit
def split_left(x):
    left, _ = tl.split(tl.reshape(x, (4, 4, 2)))
    return left


@triton.jit
def split_right(x):
    _, right = x.reshape(4, 4, 2).split()
    return right


@triton.jit
def split_and_join(x):
    left, right = tl.split(tl.reshape(x, (4, 4, 2)))
    return tl.join(right, left)


@triton.jit
def squeeze(x):
    return tl.squeeze(tl.unsqueeze(x, 1), 1)


@triton.jit
def row_of(x):
    return tl.reshape(x, (1, 32))


ONE_OPERAND: dict[str, tuple[Any, Callable[[np.ndarray], np.ndarray]]] = {
    "reshape": (reshape, lambda x: x.reshape(2, 16)),
    "reshape_by_numbers": (reshape_by_numbers, lambda x: x.reshape(16, 2)),
    "view": (view, lambda x: x.reshape(32)),
    "ravel": (ravel, np.ravel),
    "trans": (transpose, np.transpose),
    "T": (transpose_attribute, np.transpose),
    "permute": (permute, lambda x: x.reshape(2, 4, 4).transpose(2, 0, 1)),
    "permute_by_numbers": (permute_by_numbers, lambda x: x.reshape(2, 4, 4).transpose(1, 2, 0)),
    "trans_by_numbers": (trans_by_numbers, lambda x: x.reshape(2, 4, 4).transpose(0, 2, 1)),
    "trans_of_three": (trans_of_three, lambda x: x.reshape(2, 4, 4).swapaxes(-1, -2)),
    "expand_dims": (expand_dims, lambda x: x[:, None]),
    "expand_last": (expand_last, lambda x: x[..., None]),
    "expand_several": (expand_several, lambda x: x[None, ..., None]),
    "index_none": (index_none, lambda x: x[None, :, None, :]),
    "broadcast_to": (broadcast_to, lambda x: np.broadcast_to(x[:, :, None], (4, 8, 4))),
    "broadcast_by_numbers": (broadcast_by_numbers, lambda x: np.broadcast_to(x, (2, 4, 8))),
    "flip": (flip_last, lambda x: x[:, ::-1]),
    "flip_first": (flip_first, lambda x: x[::-1]),
    "split_left": (split_left, lambda x: x.reshape(4, 4, 2)[..., 0]),
    "split_right": (split_right, lambda x: x.reshape(4, 4, 2)[..., 1]),
    "split_and_join": (split_and_join, lambda x: x.reshape(4, 4, 2)[..., ::-1]),
    "squeeze": (squeeze, lambda x: x),
    "row": (row_of, lambda x: x.reshape(1, 32)),
}


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_one_operand(name: str) -> None:
    function, reference = ONE_OPERAND[name]
    for dtype in DTYPES:
        x = sample(dtype, (4, 8))
        want = np.ascontiguousarray(reference(x))
        assert_same(transform(function, dtype, want.shape, x), want, name, dtype)


@triton.jit
def join(x, y):
    return tl.join(x, y)


@triton.jit
def cat(x, y):
    return tl.cat(tl.ravel(x), tl.ravel(y), can_reorder=True)


@triton.jit
def cat_rows(x, y):
    return tl.cat(x, y, dim=0)


@triton.jit
def cat_columns(x, y):
    return tl.cat(x, y, dim=1)


@triton.jit
def interleave(x, y):
    return tl.interleave(x, y)


TWO_OPERANDS: dict[str, tuple[Any, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "join": (join, lambda x, y: np.stack([x, y], -1)),
    "cat": (cat, lambda x, y: np.concatenate([x.ravel(), y.ravel()])),
    "cat_rows": (cat_rows, lambda x, y: np.concatenate([x, y], 0)),
    "cat_columns": (cat_columns, lambda x, y: np.concatenate([x, y], 1)),
    "interleave": (interleave, lambda x, y: np.stack([x, y], -1).reshape(4, 16)),
}


@pytest.mark.parametrize("name", TWO_OPERANDS)
def test_two_operands(name: str) -> None:
    function, reference = TWO_OPERANDS[name]
    for dtype in DTYPES:
        x, y = sample(dtype, (4, 8)), sample(dtype, (4, 8), seed=1)
        want = reference(x, y)
        assert_same(transform(function, dtype, want.shape, x, y), want, name, dtype)


# --- broadcasting ----------------------------------------------------------------------------------------------------------------


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def broadcast_first(x, y):
    first, _ = tl.broadcast(x, y)
    return first


SHAPES = [
    ((4, 1), (1, 8)),
    ((4, 8), (1, 8)),
    ((4, 8), (4, 1)),
    ((1, 1), (4, 8)),
    ((1,), (1,)),
    ((1,), (16,)),
    ((2, 1, 4), (1, 8, 1)),
    ((8,), (4, 8)),  # a missing dimension is added in front
    ((2, 1, 4, 1, 2), (1, 2, 1, 2, 1)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_broadcasting(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    for dtype in ("int32", "float32", "bfloat16"):
        x, y = sample(dtype, a), sample(dtype, b, seed=1)
        want = (x + y).astype(NUMPY[dtype])
        assert_same(transform(add, dtype, want.shape, x, y), want, dtype)
        assert_same(transform(add, dtype, want.shape, y, x), want, dtype)
        stretched = np.ascontiguousarray(np.broadcast_to(x, want.shape))
        assert_same(transform(broadcast_first, dtype, want.shape, x, y), stretched)


@pytest.mark.parametrize(("a", "b"), [((4, 8), (4, 4)), ((2, 8), (8, 2))])
def test_shapes_that_do_not_meet(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    with pytest.raises(triton.errors.CompileError, match="shape|broadcast|dimension"):
        transform(add, "int32", a, sample("int32", a), sample("int32", b))


# --- extents and creation ------------------------------------------------------------------------------------------------------------


@triton.jit
def _creation_kernel(out_ptr, DTYPE: tl.constexpr):
    i = tl.arange(0, 4)
    tl.store(out_ptr + i, tl.zeros((4,), DTYPE))
    tl.store(out_ptr + 4 + i, tl.full((4,), 1, DTYPE))
    tl.store(out_ptr + 8 + i, tl.zeros_like(tl.full((4,), 1, DTYPE)))
    tl.store(out_ptr + 12, tl.full((), 1, DTYPE))


@pytest.mark.parametrize("dtype", DTYPES)
def test_creation(dtype: str) -> None:
    out = np.full(16, 1).astype(NUMPY[dtype])
    _creation_kernel[(1,)](out, DTYPE=getattr(tl, dtype))
    assert out[:13].astype(float).tolist() == [0] * 4 + [1] * 4 + [0] * 4 + [1]


@triton.jit
def _arange_kernel(out_ptr, START: tl.constexpr, END: tl.constexpr):
    i = tl.arange(START, END)
    tl.static_assert(i.dtype == tl.int32)
    tl.store(out_ptr + i - START, i)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (5, 6), (0, 64), (16, 32), (3, 11)])
def test_arange(start: int, end: int) -> None:
    out = np.zeros(end - start, np.int32)
    _arange_kernel[(1,)](out, START=start, END=end)
    assert out.tolist() == list(range(start, end))


@triton.jit
def _facts_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :])
    tl.static_assert(x.shape[0] == N)
    tl.static_assert(x.shape == (N, N))
    tl.static_assert(len(x.shape) == 2)
    tl.static_assert(x.numel == N * N)
    tl.static_assert(x.dtype == tl.float32)
    tl.static_assert(x.type.scalar == tl.float32)
    tl.static_assert(tl.expand_dims(x, 0).shape == (1, N, N))
    tl.static_assert(x_ptr.dtype.is_ptr())
    tl.static_assert(x_ptr.dtype.element_ty == tl.float32)


def test_facts_about_tiles() -> None:
    _facts_kernel[(1,)](np.zeros((4, 4), np.float32), N=4)


@triton.jit
def six_dimensions(x):
    return tl.permute(tl.reshape(x, (2, 2, 1, 2, 2, 2)), (5, 3, 0, 2, 4, 1))


def test_six_dimensions() -> None:
    x = sample("int32", (4, 8))
    want = np.ascontiguousarray(x.reshape(2, 2, 1, 2, 2, 2).transpose(5, 3, 0, 2, 4, 1))
    assert_same(transform(six_dimensions, "int32", want.shape, x), want)


@triton.jit
def wrong_reshape(x):
    return tl.reshape(x, (4, 4))


@triton.jit
def wrong_permutation(x):
    return tl.permute(x, (0, 0))


@triton.jit
def wrong_axis(x):
    return tl.expand_dims(x, 5)


@triton.jit
def wrong_split(x):
    left, _ = tl.split(x)
    return left


@triton.jit
def wrong_flip(x):
    return tl.flip(x, 2)


@pytest.mark.parametrize("function", [wrong_reshape, wrong_permutation, wrong_axis, wrong_split, wrong_flip])
def test_refusals(function: Any) -> None:
    with pytest.raises(triton.errors.CompileError):
        transform(function, "int32", (4, 8), sample("int32", (4, 8)))
