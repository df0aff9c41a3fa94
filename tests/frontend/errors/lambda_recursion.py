"""A lambda that never ends."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    again = lambda v: again(v)  # noqa: E731  # wrong
    tl.store(x, again(1.0))


ARGS = {"x": "*fp32"}
PORTABILITY = "off"
