"""Named tuples: made in a kernel, passed to it, through compile-time functions; topk in both directions."""

from typing import NamedTuple

import numpy as np

import trivet as triton
import trivet.language as tl


class Pair(NamedTuple):
    first: object
    second: object = 10


@triton.constexpr_function
def through(pair):
    return pair


@triton.jit
def swapped(pair):
    return Pair(first=pair.second, second=pair.first)


@triton.jit
def kernel(out_ptr, given):
    made = swapped(Pair(given.second, second=given.first))
    tl.store(out_ptr, made.first)
    tl.store(out_ptr + 1, made.second)
    tl.store(out_ptr + 2, Pair(1).second)
    tl.static_assert(through(Pair(3, 4)).second == 4)
    one, two = tl.tuple((5, 6))
    tl.store(out_ptr + 3, one * two)


def test_named_tuples():
    out = np.zeros(4, np.int32)
    kernel[(1,)](out, Pair(7, 8))
    assert out.tolist() == [7, 8, 10, 30]


@triton.jit
def smallest(x_ptr, out_ptr, K: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, K), tl.topk(x, K, descending=False))
    tl.store(out_ptr + K + tl.arange(0, K), tl.topk(x, K))


def test_topk_in_both_directions():
    x = np.array([5, -3, 9, 0, 7, 7, -8, 2], np.int32)
    out = np.zeros(8, np.int32)
    smallest[(1,)](x, out, K=4, N=8)
    assert out.tolist() == [*np.sort(x)[:4], *np.sort(x)[::-1][:4]]
