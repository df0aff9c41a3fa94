"""An eviction policy that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x, eviction_policy="never")  # wrong


ARGS = {"x": "*fp32"}
