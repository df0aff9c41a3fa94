"""One argument too few."""

import trivet as triton
import trivet.language as tl
from trivet.language.extra import libdevice


@triton.jit
def kernel(n):
    libdevice.pow(n)  # wrong


ARGS = {"n": "fp32"}
