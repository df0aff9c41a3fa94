"""A function without @jit."""

import trivet as triton
import trivet.language as tl


def plain(a):
    return a + 1


@triton.jit
def kernel(x):
    tl.store(x, plain(1))  # wrong


ARGS = {"x": "*fp32"}
