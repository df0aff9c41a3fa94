"""A list made of a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    [a + 1 for a in tl.load(x + tl.arange(0, 8))]  # wrong


ARGS = {"x": "*fp32"}
