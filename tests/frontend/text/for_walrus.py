"""A name given inside an expression of the body is carried."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    last = 0
    for i in range(n):
        tl.store(x + (last := i * 2), i)
    tl.store(x, last)


ARGS = {"x": "*i32", "n": "i32"}
