"""Two tiles reduced side by side."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, y):
    tl.store(y, tl.argmax(tl.load(x + tl.arange(0, 8)), axis=0))


ARGS = {"x": "*fp32", "y": "*i32"}
