"""make_block_ptr, advance, load with padding, store."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n, s):
    p = tl.make_block_ptr(x, (n, 64), (s, 1), (0, 16), (16, 32), (1, 0))
    v = tl.load(p, boundary_check=(0, 1), padding_option="nan")
    p = tl.advance(p, (16, 0))
    tl.store(p, v, boundary_check=(0,))


ARGS = {"x": "*fp16", "n": "i32", "s": "i64"}
