"""mask and other; a scalar `other` becomes the element type, a mask that is True none at all."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    offsets = tl.arange(0, 8)
    a = tl.load(x + offsets, mask=offsets < n, other=-float("inf"))
    b = tl.load(x + offsets, mask=True)
    c = tl.load(x + offsets, mask=n > 0)
    tl.store(x + offsets, a + b + c, mask=offsets < n, cache_modifier=".cg", eviction_policy="evict_first")


ARGS = {"x": "*fp16", "n": "i32"}
