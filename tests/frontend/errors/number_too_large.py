"""More than 64 bits."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, x.dtype.primitive_bitwidth + (1 << 70))  # wrong


ARGS = {"x": "*i64"}
