"""An unrolled loop carries nothing: a variable may change its type."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.zeros([8], tl.float32)
    for _ in tl.static_range(2):
        a = tl.join(a, a)
    tl.store(x, tl.sum(tl.ravel(a)))


ARGS = {"x": "*fp32"}
