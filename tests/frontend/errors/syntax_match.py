"""Pattern matching."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n, x):
    match n:  # wrong
        case 1:
            a = 2
        case _:
            a = 3
    tl.store(x, a)


ARGS = {"n": "i32", "x": "*i32"}
