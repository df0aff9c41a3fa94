"""Two helpers that call each other."""

import trivet as triton
import trivet.language as tl


@triton.jit
def even(n):
    return odd(n - 1)


@triton.jit
def odd(n):
    return even(n - 1)  # wrong


@triton.jit
def kernel(n):
    even(n)


ARGS = {"n": "i32"}
