"""A number where a pointer belongs."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.atomic_add(n, 1)  # wrong


ARGS = {"n": "i32"}
