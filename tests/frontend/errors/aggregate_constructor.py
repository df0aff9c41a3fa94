"""Constructors that leave a field out on one path, or return something."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

    @triton.jit
    def __init__(self, x):
        self.first = x
        if x > 0:
            self.second = x  # wrong


@triton.aggregate
class Forgetful:
    first: tl.tensor
    second: tl.tensor

    def __init__(self, x):  # wrong
        self.first = x


@triton.aggregate
class Giving:
    first: tl.tensor

    def __init__(self, x):
        self.first = x
        return x  # wrong


@triton.jit
def kernel(x):
    value = tl.load(x)
    Pair(value)
    Forgetful(value)
    Giving(value)


ARGS = {"x": "*fp32"}
