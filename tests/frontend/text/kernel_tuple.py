"""A tuple argument is a parameter an item."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(p):
    pointer, (a, b), c = p
    tl.store(pointer + a + b + c, len(p))


ARGS = {"p": ("*fp32", ("i32", "i64"), 5)}
