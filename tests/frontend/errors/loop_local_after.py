"""A variable of the loop's body after the loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    for i in range(n):
        last = i
    tl.store(x, last)  # wrong


ARGS = {"x": "*i32", "n": "i32"}
