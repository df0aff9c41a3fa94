"""Order and scope."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    old = tl.atomic_add(x + tl.arange(0, 4), 1, mask=tl.arange(0, 4) < n, sem="relaxed", scope="cta")
    tl.atomic_xchg(x, tl.sum(old))
    while tl.atomic_cas(x, 0, 1, sem="acquire") == 1:
        pass


ARGS = {"x": "*i32", "n": "i32"}
