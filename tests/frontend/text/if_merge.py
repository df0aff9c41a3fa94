"""The variables that the branches leave different are the results of the `if`; `c` is not one of them."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    a = 1.0
    b = tl.zeros([4], tl.float32)
    c = 5.0
    if n > 0:
        a = 2.0
        b += 1.0
    else:
        a = 3.0
    tl.store(x + tl.arange(0, 4), b * a + c)


ARGS = {"x": "*fp32", "n": "i32"}
