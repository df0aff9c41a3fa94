"""A recursion that would need more functions than there is room for."""

import trivet as triton
import trivet.language as tl


@triton.jit
def fan(n: tl.constexpr, depth: tl.constexpr):
    if depth < 90:
        fan(2 * n, depth + 1)
        fan(2 * n + 1, depth + 1)  # wrong


@triton.jit
def kernel():
    fan(1, 0)


ARGS = {}
