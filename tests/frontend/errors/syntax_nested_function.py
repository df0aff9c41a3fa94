"""A function inside a kernel."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    def f(a):  # wrong
        return a + 1

    f(n)


ARGS = {"n": "i32"}
