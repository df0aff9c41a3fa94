"""A choice on many values."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 64))
    b = a if a > 0 else -a  # wrong
    tl.store(x + tl.arange(0, 64), b)


ARGS = {"x": "*fp32"}
