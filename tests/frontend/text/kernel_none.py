"""A None argument is no parameter of the bytecode."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, bias, n):
    offsets = tl.arange(0, 4)
    v = tl.load(x + offsets, mask=offsets < n)
    if bias is not None:
        v += tl.load(bias + offsets, mask=offsets < n)
    tl.store(x + offsets, v, mask=offsets < n)


ARGS = {"x": "*fp32", "bias": None, "n": "i32"}
