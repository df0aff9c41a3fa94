"""An unrolled loop that is too long."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    for i in tl.static_range(1 << 40):  # wrong
        pass


ARGS = {}
