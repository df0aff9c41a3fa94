"""A tile of another size."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [16, 16])
    d.store([0, 0], tl.zeros([16, 32], tl.float32))  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
