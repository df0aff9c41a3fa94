"""Lambdas: handed to a helper, called with too many values, calling themselves."""

import trivet as triton
import trivet.language as tl


@triton.jit
def apply(f, x):
    return f(x)  # wrong


@triton.jit
def kernel(x):
    double = lambda v: v * 2  # noqa: E731
    value = tl.load(x)
    apply(double, value)
    double(value, value)  # wrong
    tl.store(x, double(value))


ARGS = {"x": "*fp32"}
PORTABILITY = "off"
