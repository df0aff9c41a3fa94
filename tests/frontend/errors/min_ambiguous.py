"""Python's min of a number and NaN depends on their order."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    tl.store(x, min(1.0, N))  # wrong
    tl.store(x, max(0.0, -0.0))  # wrong


ARGS = {"x": "*fp32", "N": float("nan")}
