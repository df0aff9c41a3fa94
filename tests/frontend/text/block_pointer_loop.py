"""A block pointer is carried through a loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (32,), (0,))
    total = tl.zeros([32], tl.float32)
    for _ in range(0, n, 32):
        total += tl.load(p, boundary_check=(0,))
        p = tl.advance(p, (32,))
    tl.store(x, tl.sum(total))


ARGS = {"x": "*fp32", "n": "i32"}
