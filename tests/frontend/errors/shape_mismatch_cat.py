"""Only the chosen axis may differ."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.cat(tl.zeros([4, 8], tl.float32), tl.zeros([4, 16], tl.float32), can_reorder=True)  # wrong


ARGS = {}
