"""By position and by name."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x, True, mask=True)  # wrong


ARGS = {"x": "*fp32"}
