"""A compile-time parameter of a helper given a run-time value, where the helper needs a constant."""

import trivet as triton
import trivet.language as tl


@triton.jit
def block(n: tl.constexpr):
    return tl.arange(0, n)  # wrong


@triton.jit
def kernel(n):
    block(n)


ARGS = {"n": "i32"}
