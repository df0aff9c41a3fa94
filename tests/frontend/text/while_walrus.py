"""A name given in the condition of a loop is carried from there."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    i = 0
    v = 0
    while (v := tl.load(x + i)) > 0:
        i += v
    tl.store(x, v)


ARGS = {"x": "*i32"}
