"""A compile-time variable given a run-time value."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    size: tl.constexpr = n * 2  # wrong
    tl.arange(0, size)


ARGS = {"n": "i32"}
