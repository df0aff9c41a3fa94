"""break under a run-time condition in an unrolled loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    for i in tl.static_range(4):
        if i == n:
            break  # wrong
        tl.store(x + i, i)


ARGS = {"x": "*i32", "n": "i32"}
PORTABILITY = "off"
