"""a < b < c is a < b and b < c, with b evaluated once."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.store(x, 0 < tl.load(x) < n)


ARGS = {"x": "*i32", "n": "i32"}
