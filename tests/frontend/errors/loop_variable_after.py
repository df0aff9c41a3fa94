"""The loop's variable after the loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    for i in range(n):
        tl.store(x + i, i)
    tl.store(x, i)  # wrong


ARGS = {"x": "*i32", "n": "i32"}
