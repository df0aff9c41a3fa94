"""A forgotten argument."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n, scale):
    n * scale  # wrong


ARGS = {"n": "i32", "scale": None}
