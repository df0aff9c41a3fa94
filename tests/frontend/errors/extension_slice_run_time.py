"""A slice whose bounds only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    a = tl.load(x + tl.arange(0, 8))
    tl.sum(a[:n])  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
PORTABILITY = "off"
