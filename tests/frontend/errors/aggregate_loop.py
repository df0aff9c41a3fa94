"""A compile-time field of an aggregate that a loop carries changes."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    n: tl.constexpr


@triton.jit
def kernel(x, n):
    pair = Pair(tl.load(x), 0)
    for _ in range(n):
        pair = Pair(pair.first, 1)  # wrong
    tl.store(x, pair.first)


ARGS = {"x": "*fp32", "n": "i32"}
