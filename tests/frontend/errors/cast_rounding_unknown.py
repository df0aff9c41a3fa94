"""A rounding that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n.to(tl.float16, fp_downcast_rounding="up")  # wrong


ARGS = {"n": "fp32"}
