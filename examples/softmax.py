"""Fused softmax over the rows of a matrix: one read and one write per element.

The kernel is persistent: a fixed number of programs share the rows, each taking every ``n_programs``-th one. With as
many programs as rows it is the plain kernel, one row a program.
"""

import numpy as np

import tensors
import trivet as triton
import trivet.language as tl


@triton.jit
def softmax_kernel(
    out_ptr,
    in_ptr,
    out_row_stride,
    in_row_stride,
    n_rows,
    n_cols,
    BLOCK: tl.constexpr,
    NUM_STAGES: tl.constexpr,
):
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=NUM_STAGES):
        x = tl.load(in_ptr + row * in_row_stride + cols, mask=inside, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        result = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_row_stride + cols, result, mask=inside)


def softmax(x, n_programs=None):
    """Softmax of each row of ``x``, ``[rows, columns]`` in float32; at most ``n_programs`` programs (64 if None)."""
    n_rows, n_cols = x.shape
    out = tensors.empty(x, x.shape, "float32")
    grid = (min(n_rows, n_programs or 64),)
    softmax_kernel[grid](
        out,
        x,
        tensors.strides(out)[0],
        tensors.strides(x)[0],
        n_rows,
        n_cols,
        BLOCK=triton.next_power_of_2(n_cols),
        NUM_STAGES=2,
    )
    return out


def reference(x):
    """The same in float64."""
    x = tensors.in_float64(x)
    if not isinstance(x, np.ndarray):
        return x.softmax(1)
    numerator = np.exp(x - x.max(1, keepdims=True))
    return numerator / numerator.sum(1, keepdims=True)


VARIANTS = {"softmax": {}, "softmax, row a program": {"n_programs": 1823}}


def make(n_rows=1823, n_cols=781, n_programs=None):
    """The work of one softmax over ``[n_rows, n_cols]``."""
    x = tensors.normal((n_rows, n_cols), seed=3)
    return tensors.Work(
        shape=f"{n_rows}x{n_cols}",
        dtype="float32",
        run=lambda: (softmax(x, n_programs),),
        expect=lambda: (reference(x),),
        tolerance=1e-6,
    )


def check(**variant):
    """Compare with the reference: ``(shape, dtype, max_error, bound)``."""
    return make(**variant).check()


if __name__ == "__main__":
    print(check())
