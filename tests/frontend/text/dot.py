"""The accumulator and the precision."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    p = x + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(p)
    acc = tl.dot(a, a, input_precision="ieee")
    acc = tl.dot(a.to(tl.float16), a.to(tl.float16), acc)
    tl.store(p, acc)


ARGS = {"x": "*fp32"}
