"""PTX that asks for what only the machine has."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r,r", [n], tl.int32, True, 1)  # wrong


ARGS = {"n": "i32"}
