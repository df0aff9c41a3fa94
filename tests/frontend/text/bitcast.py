"""Of equal width; of a pointer."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, y):
    b = tl.load(x).to(tl.int32, bitcast=True)
    p = y.to(tl.pointer_type(tl.int32))
    tl.store(p, b)


ARGS = {"x": "*fp32", "y": "*u8"}
