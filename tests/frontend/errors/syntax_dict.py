"""A dictionary."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    table = {"a": n}  # wrong
    table["a"] + 1


ARGS = {"n": "i32"}
