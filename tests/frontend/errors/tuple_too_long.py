"""A tuple multiplied beyond reason."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    (1, 2) * (1 << 60)  # wrong
    [(0,) * 60000 for _ in range(3)] + [(0,) * 60000 * 2]  # wrong


ARGS = {}
