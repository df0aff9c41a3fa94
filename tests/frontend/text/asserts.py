"""Of what is known, nothing is left; of the rest, an op with its message."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 8)
    assert BLOCK > 1, "unseen"
    assert n > 0, "n must be positive"
    tl.device_assert(tl.arange(0, BLOCK) < n, "too short", mask=tl.arange(0, BLOCK) > 1)
    tl.assume(n > 4)


ARGS = {"n": "i32", "BLOCK": 8}
