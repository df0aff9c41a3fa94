"""Over compile-time values, as a tuple."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    squares = [i * i for i in range(5) if i % 2]
    for s in squares:
        tl.store(x + s, len(squares))


ARGS = {"x": "*i32"}
