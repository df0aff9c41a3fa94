"""Operators of compile-time values are Python's: -7 // 2 is -4; of run-time values C's: -3."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    tl.store(x, N // 2)
    n = N
    tl.store(x + 1, n // 2)


ARGS = {"x": "*i32", "N": -7}
