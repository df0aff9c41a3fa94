"""A tl.constexpr, an annotated constant, a type, and a helper under another name."""

import trivet as triton
import trivet.language as tl

SCALE = tl.constexpr(3.0)
BLOCK: tl.constexpr = 4
DTYPE = tl.float16


@triton.jit
def put(pointer, value):
    tl.store(pointer, value)


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, BLOCK)) * SCALE
    put(x + tl.arange(0, BLOCK), v.to(DTYPE))


ARGS = {"x": "*fp32"}
