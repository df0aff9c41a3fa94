"""Rows under 16 bytes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.make_tensor_descriptor(x, [n, n], [n, 1], [16, 2])  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
