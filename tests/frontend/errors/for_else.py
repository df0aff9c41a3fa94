"""The else of a loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    for i in range(n):  # wrong
        pass
    else:
        pass


ARGS = {"n": "i32"}
