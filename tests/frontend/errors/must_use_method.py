"""What a method gives must be used."""

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Square:
    x: tl.tensor

    @triton.must_use_result
    @triton.jit
    def compute(self):
        return self.x * self.x


@triton.jit
def kernel(x):
    square = Square(tl.load(x))
    square.compute()  # wrong
    tl.store(x, square.compute())


ARGS = {"x": "*fp32"}
