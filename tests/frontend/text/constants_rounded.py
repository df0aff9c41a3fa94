"""A known float is known as its type has it: 0.1 as f16, then as f64."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.full((), 0.1, tl.float16)
    tl.store(x, a.to(tl.float64))
    b = tl.full((), -1.5, tl.int8)
    tl.store(x + 1, b < 0)


ARGS = {"x": "*fp64"}
