"""Matrix multiplication with grouped ordering of programs, any M, N and K, and an activation fused into the epilogue.

Programs that run at about the same time should share operands: they walk the output in bands of ``GROUP_M`` rows of
tiles, each band column by column, so that a band reuses the same columns of B while they are in the cache.
"""

import tensors
import trivet as triton
import trivet.language as tl


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def tile_of_program(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Row and column of the output tile that program ``pid`` computes."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    band = pid // (GROUP_M * tiles_n)
    rows_in_band = min(tiles_m - band * GROUP_M, GROUP_M)
    place = pid % (GROUP_M * tiles_n)
    return band * GROUP_M + place % rows_in_band, place // rows_in_band


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    ACTIVATION: tl.constexpr = None,
):
    tile_m, tile_n = tile_of_program(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    # Rows and columns past the edge wrap around: they read valid memory, and their products are never stored.
    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + (cols % N)[None, :] * stride_bn

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_ptrs, mask=ks[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    if ACTIVATION is not None:
        acc = ACTIVATION(acc)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


def matmul(a, b, activation=None):
    """``a @ b``, then ``activation`` (a ``@jit`` function on float32 tiles) if given.

    ``a``: ``[M, K]``, ``b``: ``[K, N]``, of one floating dtype, which the result ``[M, N]`` has too. Any strides.
    """
    (m, k), (_, n) = a.shape, b.shape
    c = tensors.empty(a, (m, n), tensors.dtype_name(a))

    def grid(meta):
        return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)

    matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        *tensors.strides(a),
        *tensors.strides(b),
        *tensors.strides(c),
        BLOCK_M=64,
        BLOCK_N=64,
        BLOCK_K=32,
        GROUP_M=8,
        ACTIVATION=activation,
    )
    return c


def reference(a, b, fused):
    """The same in float64."""
    c = tensors.in_float64(a) @ tensors.in_float64(b)
    return c * (c >= 0) + 0.01 * c * (c < 0) if fused else c


VARIANTS = {
    "matmul": {},
    "matmul, float32": {"dtype": "float32"},
    "matmul, leaky ReLU": {"m": 300, "n": 200, "k": 150, "fused": True},
}


def make(m=512, n=512, k=512, dtype="float16", fused=False):
    """The work of one product ``[m, k] @ [k, n]``, followed by leaky ReLU if ``fused``."""
    a, b = tensors.normal((m, k), dtype, seed=4), tensors.normal((k, n), dtype, seed=5)
    return tensors.Work(
        shape=f"{m}x{n}x{k}",
        dtype=dtype,
        run=lambda: (matmul(a, b, leaky_relu if fused else None),),
        expect=lambda: (reference(a, b, fused),),
        tolerance=2**-11 if dtype == "float16" else 1e-5,  # half an ulp of the result; K roundings in float32
    )


def check(**variant):
    """Compare with the reference: ``(shape, dtype, max_error, bound)``."""
    return make(**variant).check()


if __name__ == "__main__":
    print(check())
