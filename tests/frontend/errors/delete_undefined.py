"""Deleting what isn't there."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    del a  # wrong


ARGS = {}
