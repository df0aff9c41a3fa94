"""Arguments of an aggregate without a constructor of its own."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    n: tl.constexpr = 3


@triton.jit
def kernel(x):
    value = tl.load(x)
    Pair()  # wrong
    Pair(value, 1, 2)  # wrong
    Pair(value, first=value)  # wrong
    Pair(value, m=1)  # wrong


ARGS = {"x": "*fp32"}
