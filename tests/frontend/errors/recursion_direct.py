"""A helper that calls itself."""

import trivet as triton
import trivet.language as tl


@triton.jit
def factorial(n):
    return n * factorial(n - 1)  # wrong


@triton.jit
def kernel(n):
    factorial(n)


ARGS = {"n": "i32"}
