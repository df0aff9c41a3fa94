"""*args of a kernel."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(*pointers):
    for pointer in pointers:
        tl.store(pointer, 0.0)


ARGS = {"a": "*fp32", "b": "*fp32"}
