"""*args of a helper is a tuple; a starred tuple opens into arguments."""

import trivet as triton
import trivet.language as tl


@triton.jit
def total(first, *rest):
    for value in rest:
        first += value
    return first


@triton.jit
def kernel(x, p):
    tl.store(x, total(1.0, *p, 2.0))


ARGS = {"x": "*fp32", "p": ("fp32", "fp32")}
