"""continue in an unrolled loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    for i in tl.static_range(4):
        if i == 2:
            continue  # wrong
        tl.store(x + i, i)


ARGS = {"x": "*i32"}
