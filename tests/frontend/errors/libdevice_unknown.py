"""A function that libdevice doesn't have."""

import trivet as triton
import trivet.language as tl
from trivet.language.extra import libdevice


@triton.jit
def kernel(n):
    libdevice.tanhh(n)  # wrong


ARGS = {"n": "fp32"}
