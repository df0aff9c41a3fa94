"""tl.condition outside the head of a while loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    if tl.condition(n > 0):  # wrong
        tl.store(x, 1.0)


ARGS = {"x": "*fp32", "n": "i32"}
