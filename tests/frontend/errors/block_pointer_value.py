"""A tile of another shape."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    tl.store(p, tl.zeros([16, 32], tl.float32))  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
