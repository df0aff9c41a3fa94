"""tl.store to a descriptor."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [16, 16])
    tl.store(d, tl.zeros([16, 16], tl.float32))  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
