"""The prefix must be text."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.device_print(n)  # wrong


ARGS = {"n": "i32"}
