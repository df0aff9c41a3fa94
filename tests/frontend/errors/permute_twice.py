"""An axis given twice."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.permute(tl.zeros([8, 4], tl.float32), [0, 0])  # wrong


ARGS = {}
