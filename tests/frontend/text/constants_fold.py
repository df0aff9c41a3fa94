"""Integer arithmetic over known values leaves one constant; floats are left to the interpreter."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    n = (BLOCK * 2 - 7) // 4
    m = n % 5 + (1 << 3)
    tl.store(x, m)
    a = 0.1
    b = a + 0.2
    tl.store(y, b)


ARGS = {"x": "*i32", "y": "*fp32", "BLOCK": 48}
