"""A number takes the type that the variable has."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    best = tl.load(x)
    for i in range(0, n, 2):
        if i > 3:
            best = 0.0
    tl.store(x, best)


ARGS = {"x": "*fp32", "n": "i64"}
