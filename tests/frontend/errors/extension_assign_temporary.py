"""Elements of something that no variable holds."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.zeros([8], tl.float32)[0] = 1.0  # wrong


ARGS = {}
PORTABILITY = "off"
