"""Source and index differ along another axis."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.gather(tl.zeros([8, 4], tl.float32), tl.zeros([4, 4], tl.int32), axis=1)  # wrong


ARGS = {}
