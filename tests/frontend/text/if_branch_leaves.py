"""The branch that returns needs no merge: `a` may change its type in the other."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    a = tl.zeros([4], tl.float32)
    if n < 0:
        return
    else:
        a = tl.zeros([8], tl.float32)
    tl.store(x + tl.arange(0, 8), a)


ARGS = {"x": "*fp32", "n": "i32"}
