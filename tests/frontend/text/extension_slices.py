"""Parts of tiles, and single elements."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    a = tl.load(x + tl.arange(0, 12))
    b = a[2:8:2]
    b[1] = 5.0
    tl.store(x + tl.arange(0, 3), b)
    tl.store(x, a[n])


ARGS = {"x": "*fp32", "n": "i32"}
PORTABILITY = "off"
