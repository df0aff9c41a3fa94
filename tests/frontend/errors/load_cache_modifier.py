"""A cache modifier that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x, cache_modifier=".zz")  # wrong


ARGS = {"x": "*fp32"}
