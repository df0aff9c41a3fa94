"""break and continue carry the current values along."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    found = -1
    for i in range(n):
        v = tl.load(x + i)
        if v < 0:
            continue
        if v == 7:
            found = i
            break
    tl.store(x, found)


ARGS = {"x": "*i32", "n": "i32"}
PORTABILITY = "off"
