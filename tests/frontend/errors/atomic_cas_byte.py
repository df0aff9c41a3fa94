"""Compare and swap of bytes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.atomic_cas(x, 0, 1)  # wrong


ARGS = {"x": "*i8"}
