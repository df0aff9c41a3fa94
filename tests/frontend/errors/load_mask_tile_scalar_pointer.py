"""The offsets are forgotten."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.load(x, mask=tl.arange(0, 8) < n)  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
