"""A name that an aggregate does not have, an operator that it does not define, and what only tuples can do."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    n: tl.constexpr = 3


@triton.jit
def kernel(x):
    pair = Pair(tl.load(x))
    pair.frist  # wrong
    pair + pair  # wrong
    pair[0]  # wrong
    -pair  # wrong
    a, b = pair  # wrong


ARGS = {"x": "*fp32"}
