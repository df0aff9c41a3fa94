"""A forgotten argument."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    x.to(tl.float32)  # wrong


ARGS = {"x": None}
