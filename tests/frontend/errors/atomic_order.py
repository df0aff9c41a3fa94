"""A memory order that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.atomic_add(x, 1, sem="seq_cst")  # wrong


ARGS = {"x": "*i32"}
