"""A variable leaves the loop with another type."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    total = 0
    for i in range(n):
        if i == 3:
            total = 1.5  # wrong
            break
    tl.store(x, total)


ARGS = {"x": "*i32", "n": "i32"}
PORTABILITY = "off"
