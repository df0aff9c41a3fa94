"""A clock, which bytecode does not have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, tl.extra.cuda.globaltimer())  # wrong


ARGS = {"x": "*i64"}
