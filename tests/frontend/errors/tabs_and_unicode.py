"""The caret under the right thing after a tab and letters of several bytes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    größe = "äöü"; tl.store(x, größe)  # wrong


ARGS = {"x": "*fp32"}
