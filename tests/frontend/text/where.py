"""Both sides meet in one type; the condition is broadcast."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    v = tl.load(x + tl.arange(0, 8))
    tl.store(x + tl.arange(0, 8), tl.where(n > 0, v, 0))


ARGS = {"x": "*fp32", "n": "i32"}
