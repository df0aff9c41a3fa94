"""A name given inside an expression."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    if (m := n + 1) > 3:
        tl.store(x, m)


ARGS = {"x": "*i32", "n": "i32"}
