"""expand_dims, reshape, trans, join and split."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    w = tl.reshape(v, [4, -1]).T
    a, b = tl.split(tl.join(w, w + 1.0))
    tl.store(x + tl.arange(0, 8), (a + b).reshape(8))


ARGS = {"x": "*fp32"}
