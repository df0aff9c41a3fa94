"""Compile-time parameters are no parameters of the bytecode: numbers, text, types, functions."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def kernel(x, BLOCK: tl.constexpr, MODE: tl.constexpr, DTYPE: tl.constexpr, FN: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK)).to(DTYPE)
    if MODE == "double":
        v = FN(v)
    tl.store(x + tl.arange(0, BLOCK), v)


ARGS = {"x": "*fp32", "BLOCK": 8, "MODE": tl.constexpr("double"), "DTYPE": tl.float16, "FN": twice}
