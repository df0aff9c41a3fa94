"""Of run-time values both sides are computed, and combined as booleans."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    offsets = tl.arange(0, 8)
    mask = (offsets < n) and (offsets > 2) or not (offsets == 4)
    tl.store(x + offsets, 1.0, mask=mask)


ARGS = {"x": "*fp32", "n": "i32"}
