"""An accumulator that starts as a scalar."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x + tl.arange(0, 8))  # wrong
    tl.store(x + tl.arange(0, 8), total)


ARGS = {"x": "*fp32", "n": "i32"}
