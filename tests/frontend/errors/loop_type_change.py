"""An accumulator that starts as another type."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    total = 0
    for i in range(n):
        total += tl.load(x + i)  # wrong
    tl.store(x, total)


ARGS = {"x": "*fp32", "n": "i32"}
