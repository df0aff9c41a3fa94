"""A compile-time parameter of a helper given a run-time value."""

import trivet as triton
import trivet.language as tl


@triton.jit
def block(n: tl.constexpr):
    return tl.arange(0, n)


@triton.jit
def kernel(n):
    block(n)  # wrong


ARGS = {"n": "i32"}
