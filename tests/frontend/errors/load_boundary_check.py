"""boundary_check with a tile of pointers."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x + tl.arange(0, 8), boundary_check=(0,))  # wrong


ARGS = {"x": "*fp32"}
