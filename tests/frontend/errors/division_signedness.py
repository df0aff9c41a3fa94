"""Signed by unsigned."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(a, b):
    a // b  # wrong


ARGS = {"a": "i32", "b": "u32"}
