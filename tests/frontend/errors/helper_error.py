"""The mistake is in the helper, two calls deep."""

import trivet as triton
import trivet.language as tl


@triton.jit
def inner(a):
    return a + tl.zeros([16], tl.float32)  # wrong


@triton.jit
def outer(a):
    return inner(a) * 2


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    tl.store(x + tl.arange(0, 8), outer(a))


ARGS = {"x": "*fp32"}
