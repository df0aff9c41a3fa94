"""Writing through a pointer that is annotated for reading only."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x: tl.const, y):
    tl.store(x, 1.0)  # wrong
    at = x + tl.arange(0, 4)
    tl.atomic_add(at, 1.0)  # wrong
    tl.store(y, tl.load(x))


ARGS = {"x": "*fp32", "y": "*fp32"}
