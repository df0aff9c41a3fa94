"""Missing axes come on the left, axes of 1 are repeated, scalars are splat."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, s):
    rows = tl.arange(0, 4)
    columns = tl.arange(0, 8)
    p = x + rows[:, None] * 8 + columns[None, :]
    tl.store(p, tl.load(p) * s + columns)


ARGS = {"x": "*fp32", "s": "fp32"}
