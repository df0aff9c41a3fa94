"""Vector addition: each program adds one block, the last one under a mask."""

import math

import tensors
import trivet as triton
import trivet.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


def add(x, y, block=1024):
    """``x + y`` for two contiguous tensors of one shape and dtype."""
    out = tensors.empty(x, x.shape, tensors.dtype_name(x))
    n = math.prod(x.shape)
    add_kernel[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    return out


VARIANTS = {"vector add": {}}


def make(n=1 << 20, dtype="float32"):
    """The work of adding two vectors of ``n`` elements."""
    x, y = tensors.normal((n,), dtype, seed=1), tensors.normal((n,), dtype, seed=2)
    return tensors.Work(
        shape=str(n),
        dtype=dtype,
        run=lambda: (add(x, y),),
        expect=lambda: (tensors.in_float64(x) + tensors.in_float64(y),),
        tolerance=2**-24 if dtype == "float32" else 2**-11,
    )


def check(**variant):
    """Compare with the reference: ``(shape, dtype, max_error, bound)``."""
    return make(**variant).check()


if __name__ == "__main__":
    print(check())
