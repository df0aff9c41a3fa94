"""A field of an aggregate is assigned outside its constructor."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    n: tl.constexpr = 3


@triton.jit
def kernel(x):
    pair = Pair(tl.load(x))
    pair.first = 1.0  # wrong
    pair.first += 1.0  # wrong


ARGS = {"x": "*fp32"}
