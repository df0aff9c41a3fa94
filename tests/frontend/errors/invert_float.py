"""`~` of a float."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(a):
    ~a  # wrong


ARGS = {"a": "fp32"}
