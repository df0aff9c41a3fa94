"""An axis outside the block."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    tl.load(p, boundary_check=(2,))  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
