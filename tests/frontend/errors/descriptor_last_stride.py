"""The last axis must be dense."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.make_tensor_descriptor(x, [n, n], [1, 2], [16, 16])  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
