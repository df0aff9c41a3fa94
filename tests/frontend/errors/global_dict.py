"""A global of Python's own containers."""

import trivet as triton
import trivet.language as tl

TABLE = {"a": 1}


@triton.jit
def kernel(x):
    tl.store(x, TABLE["a"])  # wrong


ARGS = {"x": "*fp32"}
