"""... and of compile-time values: what is known of a run-time value isn't one of them."""

import trivet as triton
import trivet.language as tl


@triton.jit
def scale(value, factor: tl.constexpr):
    return value * factor


@triton.jit
def kernel(x):
    a = 3
    b = 4
    tl.store(x, scale(a, 2) + scale(b, 2) + scale(a, 5))


ARGS = {"x": "*i32"}
