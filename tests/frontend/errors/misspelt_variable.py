"""A local variable with a typing mistake."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + ofsets, 1.0)  # wrong


ARGS = {"x": "*fp32", "BLOCK": 64}
