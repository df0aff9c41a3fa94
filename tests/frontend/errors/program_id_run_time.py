"""An axis that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.program_id(n)  # wrong


ARGS = {"n": "i32"}
