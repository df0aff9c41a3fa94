"""A helper is compiled once for each set of argument types, and called."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value):
    return value + value


@triton.jit
def kernel(x, n, m):
    tl.store(x, twice(n) + twice(m))
    tl.store(x + 1, twice(tl.load(x)))


ARGS = {"x": "*fp32", "n": "i32", "m": "i32"}
