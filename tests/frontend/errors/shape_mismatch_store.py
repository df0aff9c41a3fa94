"""More values than pointers."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x + tl.arange(0, 32), tl.zeros([64], tl.float32))  # wrong


ARGS = {"x": "*fp32"}
