"""A block pointer moves by tl.advance."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    p + 16  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
