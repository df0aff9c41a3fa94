"""Independent mistakes, all reported in one run."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    a = tl.load(x + tl.arange(0, 8), mask=tl.arange(0, 16) < n)  # wrong
    b = tl.arange(0, 100)  # wrong
    c = a + b
    tl.store(x + tl.arange(0, 8), c)
    undefined + 1  # wrong
    if tl.arange(0, 8) < n:  # wrong
        d = tl.zeros([3], tl.float32)  # wrong
    else:
        d = tl.zeros([8], tl.float32)
    tl.store(x + tl.arange(0, 8), d)
    for i in tl.static_range(n):  # wrong
        e = unknown + i  # wrong
    tl.store(x, e)
    while tl.arange(0, 8) < n:  # wrong
        n += missing  # wrong
    return n + nothing  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
