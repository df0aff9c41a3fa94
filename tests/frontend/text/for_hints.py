"""The hints of tl.range are attributes of the loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, flatten=True, warp_specialize=True):
        tl.store(x + i, 0.0)


ARGS = {"x": "*fp32", "n": "i32"}
