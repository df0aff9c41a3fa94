"""Rounding toward zero, saturation into f8, an address as a number."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x)
    a = v.to(tl.float16, fp_downcast_rounding="rtz")
    b = v.to(tl.float8e4nv)
    tl.device_print("", a, b.to(tl.float32), x.to(tl.int64))


ARGS = {"x": "*fp32"}
