"""A bound that is a float."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    for i in range(n):  # wrong
        pass


ARGS = {"n": "fp32"}
