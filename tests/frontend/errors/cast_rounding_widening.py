"""A rounding where nothing is rounded."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n.to(tl.float32, fp_downcast_rounding="rtz")  # wrong


ARGS = {"n": "fp16"}
