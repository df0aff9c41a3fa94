"""A bound that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    total = 0.0
    for i in tl.static_range(n):  # wrong
        total += 1.0
    tl.store(x, total)


ARGS = {"x": "*fp32", "n": "i32"}
