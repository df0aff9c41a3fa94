"""More imprecise sums than there are."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([64, 64], tl.float8e5), tl.zeros([64, 64], tl.float8e5), max_num_imprecise_acc=128)  # wrong


ARGS = {}
