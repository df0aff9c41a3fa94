"""Fields that hold what their annotation does not allow."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    n: tl.constexpr = 3


@triton.jit
def kernel(x):
    value = tl.load(x)
    one = Pair(1.5)  # wrong
    two = Pair(value, value)  # wrong
    tl.store(x, one.first + two.first)


ARGS = {"x": "*fp32"}
