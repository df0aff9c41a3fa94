"""A class inside a kernel."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    class Pair:  # wrong
        pass

    Pair()


ARGS = {}
