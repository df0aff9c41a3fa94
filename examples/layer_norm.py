"""Layer norm, forward and backward.

Forward, per row: ``y = (x - mean) * rstd * w + b``, with ``rstd = 1 / sqrt(variance + eps)``.

Backward: ``dx`` belongs to a row, but ``dw`` and ``db`` sum over all rows. Each program adds its row's share to one of
``N_PARTIALS`` partial sums, guarded by a spin lock; a second kernel adds the partial sums up.
"""

import numpy as np

import tensors
import trivet as triton
import trivet.language as tl

N_PARTIALS = 16


@triton.jit
def forward_kernel(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, row_stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    y_ptr += row * row_stride

    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n_cols

    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        centred = tl.where(cols < n_cols, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n_cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)

    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < n_cols
        x = tl.load(x_ptr + cols, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=inside).to(tl.float32)
        b = tl.load(b_ptr + cols, mask=inside).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=inside)


@triton.jit
def add_under_lock(lock_ptr, dw_ptrs, db_ptrs, dw, db, inside):
    """Add ``dw`` and ``db`` to memory that other programs add to as well."""
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    dw += tl.load(dw_ptrs, mask=inside)
    db += tl.load(db_ptrs, mask=inside)
    tl.store(dw_ptrs, dw, mask=inside)
    tl.store(db_ptrs, db, mask=inside)
    tl.debug_barrier()  # every lane of this program has stored before the lock opens
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    w_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dw_partial_ptr,
    db_partial_ptr,
    lock_ptr,
    row_stride,
    n_cols,
    N_PARTIALS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * row_stride + cols, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=inside, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    x_hat = tl.where(inside, (x - tl.load(mean_ptr + row)) * rstd, 0.0)

    # dx is w * dy without its parts along x_hat and along the vector of ones.
    w_dy = w * dy
    along_x_hat = tl.sum(x_hat * w_dy, axis=0) / n_cols
    along_ones = tl.sum(w_dy, axis=0) / n_cols
    dx = (w_dy - along_x_hat * x_hat - along_ones) * rstd
    tl.store(dx_ptr + row * row_stride + cols, dx, mask=inside)

    partial = row % N_PARTIALS
    place = partial * n_cols + cols
    add_under_lock(lock_ptr + partial, dw_partial_ptr + place, db_partial_ptr + place, dy * x_hat, dy, inside)


@triton.jit
def add_partials_kernel(
    dw_partial_ptr,
    db_partial_ptr,
    dw_ptr,
    db_ptr,
    n_cols,
    N_PARTIALS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    place = tl.arange(0, N_PARTIALS)[:, None] * n_cols + cols[None, :]
    dw = tl.load(dw_partial_ptr + place, mask=inside[None, :], other=0.0)
    db = tl.load(db_partial_ptr + place, mask=inside[None, :], other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0), mask=inside)
    tl.store(db_ptr + cols, tl.sum(db, axis=0), mask=inside)


def forward(x, w, b, eps=1e-5):
    """Layer norm of each row of ``x``, ``[rows, columns]``, contiguous: ``(y, mean, rstd)``, the latter float32."""
    n_rows, n_cols = x.shape
    y = tensors.empty(x, x.shape, tensors.dtype_name(x))
    mean, rstd = (tensors.empty(x, (n_rows,), "float32") for _ in range(2))
    block = min(1024, triton.next_power_of_2(n_cols))
    forward_kernel[(n_rows,)](x, w, b, y, mean, rstd, tensors.strides(x)[0], n_cols, eps, BLOCK=block)
    return y, mean, rstd


def backward(dy, x, w, mean, rstd):
    """Gradients ``(dx, dw, db)`` for the gradient ``dy`` of the output; ``mean`` and ``rstd`` are the forward's."""
    n_rows, n_cols = x.shape
    dx = tensors.empty(x, x.shape, tensors.dtype_name(x))
    dw, db = (tensors.empty(x, (n_cols,), tensors.dtype_name(w)) for _ in range(2))
    dw_partial, db_partial = (tensors.zeros(x, (N_PARTIALS, n_cols), "float32") for _ in range(2))
    locks = tensors.zeros(x, (N_PARTIALS,), "int32")
    backward_kernel[(n_rows,)](
        dy,
        x,
        w,
        mean,
        rstd,
        dx,
        dw_partial,
        db_partial,
        locks,
        tensors.strides(x)[0],
        n_cols,
        N_PARTIALS=N_PARTIALS,
        BLOCK=triton.next_power_of_2(n_cols),
    )
    add_partials_kernel[(triton.cdiv(n_cols, 128),)](
        dw_partial, db_partial, dw, db, n_cols, N_PARTIALS=N_PARTIALS, BLOCK=128
    )
    return dx, dw, db


def reference(x, w, b, dy, eps=1e-5):
    """``(y, dx, dw, db)`` in float64: by autograd in PyTorch, by the formulas in NumPy."""
    x, w, b, dy = (tensors.in_float64(t) for t in (x, w, b, dy))
    if not isinstance(x, np.ndarray):
        for leaf in (x, w, b):
            leaf.requires_grad_()
        y = tensors.torch.nn.functional.layer_norm(x, x.shape[1:], w, b, eps)
        y.backward(dy)
        return y.detach(), x.grad, w.grad, b.grad
    rstd = 1 / np.sqrt(x.var(1, keepdims=True) + eps)
    x_hat = (x - x.mean(1, keepdims=True)) * rstd
    w_dy = w * dy
    dx = (w_dy - x_hat * (x_hat * w_dy).mean(1, keepdims=True) - w_dy.mean(1, keepdims=True)) * rstd
    return x_hat * w + b, dx, (dy * x_hat).sum(0), dy.sum(0)


VARIANTS = {
    "layer norm, forward": {"gradient": False},
    "layer norm, backward": {"gradient": True},
}


def make(n_rows=384, n_cols=1000, dtype="float16", gradient=False):
    """The work of one layer norm over ``[n_rows, n_cols]``: the output, or the gradients."""
    x, dy = tensors.normal((n_rows, n_cols), dtype, seed=6), tensors.normal((n_rows, n_cols), dtype, seed=7)
    w, b = tensors.normal((n_cols,), dtype, seed=8), tensors.normal((n_cols,), dtype, seed=9)
    _, mean, rstd = forward(x, w, b)
    return tensors.Work(
        shape=f"{n_rows}x{n_cols}",
        dtype=dtype,
        run=lambda: backward(dy, x, w, mean, rstd) if gradient else forward(x, w, b)[:1],
        expect=lambda: reference(x, w, b, dy)[1:] if gradient else reference(x, w, b, dy)[:1],
        tolerance=2**-11 if dtype == "float16" else 1e-5,
    )


def check(**variant):
    """Compare with the reference: ``(shape, dtype, max_error, bound)``."""
    return make(**variant).check()


if __name__ == "__main__":
    for name, variant in VARIANTS.items():
        print(name, check(**variant))
