"""A variable that starts as None."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    best = None
    for i in range(n):
        best = tl.load(x + i)  # wrong
    tl.store(x, best)


ARGS = {"x": "*fp32", "n": "i32"}
