"""Assigned in the body and there before it: carried. `t` is neither a result nor carried."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    total = 0.0
    for i in range(n):
        t = tl.load(x + i)
        total += t
    tl.store(x, total)


ARGS = {"x": "*fp32", "n": "i32"}
