"""A condition that is known picks its branch; the other, full of mistakes, is never looked at."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, FAST: tl.constexpr):
    if FAST:
        tl.store(x, 1.0)
    else:
        tl.store(undefined, tl.arange(0, 3))


ARGS = {"x": "*fp32", "FAST": True}
