"""Text, values, hexadecimal."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n, u):
    tl.device_print("n, u =", n, u, hex=True)
    print("plain", n)


ARGS = {"n": "i32", "u": "u8"}
