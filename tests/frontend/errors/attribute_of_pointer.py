"""Pointers have no stride."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x + x.stride(0), 1.0)  # wrong


ARGS = {"x": "*fp32"}
