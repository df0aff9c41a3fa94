"""Strides of another rank."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.make_block_ptr(x, (n, n), (n,), (0, 0), (16, 16), (1, 0))  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
