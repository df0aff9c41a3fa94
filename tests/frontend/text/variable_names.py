"""A value is called after the first variable that held it; parameters after themselves."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x_ptr):
    first = tl.load(x_ptr)
    second = first
    third = first * second
    tl.store(x_ptr, third)


ARGS = {"x_ptr": "*fp32"}
