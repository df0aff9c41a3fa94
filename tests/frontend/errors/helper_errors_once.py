"""A wrong helper that is called twice shows its mistake once, and what uses its result is silent."""

import trivet as triton
import trivet.language as tl


@triton.jit
def wrong(a):
    return a + missing  # wrong


@triton.jit
def kernel(x, n):
    a = wrong(n)
    b = wrong(n) + wrong(a)
    tl.store(x + a, b)


ARGS = {"x": "*fp32", "n": "i32"}
