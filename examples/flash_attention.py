"""Attention, forward, without the matrix of scores: a running maximum and sum per query row.

For each tile of queries the keys pass by tile by tile. With scores ``s``, the row maximum ``m`` so far, and
``p = 2 ** (s - m)``, a new maximum rescales what was accumulated by ``2 ** (m_old - m_new)``. Scores are scaled by
``log2(e)`` beforehand, since ``exp2`` is the cheaper function. Source: T. Dao et al., "FlashAttention: fast and
memory-efficient exact attention with IO-awareness", 2022.
"""

import math

import numpy as np

import tensors
import trivet as triton
import trivet.language as tl


@triton.jit
def attend(
    acc,
    row_sum,
    row_max,
    q,
    k_ptr,
    v_ptr,
    k_stride,
    v_stride,
    rows,
    start,
    stop,
    n_keys,
    scale_log2,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Let the keys ``start..stop`` pass by the queries ``rows``; ``MASKED`` if some of them don't count."""
    dims = tl.arange(0, HEAD_DIM)
    for first_key in range(start, stop, BLOCK_N):
        keys = first_key + tl.arange(0, BLOCK_N)
        k_ptrs = k_ptr + keys[None, :] * k_stride + dims[:, None]
        v_ptrs = v_ptr + keys[:, None] * v_stride + dims[None, :]
        if MASKED:
            k = tl.load(k_ptrs, mask=keys[None, :] < n_keys, other=0.0)
            v = tl.load(v_ptrs, mask=keys[:, None] < n_keys, other=0.0)
        else:
            k = tl.load(k_ptrs)
            v = tl.load(v_ptrs)
        scores = tl.dot(q, k, input_precision="ieee") * scale_log2
        if MASKED:
            counts = keys[None, :] < n_keys
            if CAUSAL:
                counts = counts & (keys[None, :] <= rows[:, None])
            scores = tl.where(counts, scores, -1.0e30)
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.exp2(scores - new_max[:, None])
        rescale = tl.exp2(row_max - new_max)
        row_sum = row_sum * rescale + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * rescale[:, None], input_precision="ieee")
        row_max = new_max
    return acc, row_sum, row_max


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    scale_log2,
    q_head_stride,
    q_stride,
    k_head_stride,
    k_stride,
    v_head_stride,
    v_stride,
    out_head_stride,
    out_stride,
    n_queries,
    n_keys,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    first_row = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    rows = first_row + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    inside = rows[:, None] < n_queries

    q = tl.load(q_ptr + head * q_head_stride + rows[:, None] * q_stride + dims[None, :], mask=inside, other=0.0)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    row_max = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)

    # Tiles of keys that count for every row of this program, then the ones on the diagonal or at the end.
    if CAUSAL:
        all_count = min(first_row, n_keys) // BLOCK_N * BLOCK_N
        stop = min(first_row + BLOCK_M, n_keys)
    else:
        all_count = n_keys // BLOCK_N * BLOCK_N
        stop = n_keys
    k_ptr += head * k_head_stride
    v_ptr += head * v_head_stride
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q, k_ptr, v_ptr, k_stride, v_stride, rows, 0, all_count, n_keys,
        scale_log2, BLOCK_N, HEAD_DIM, CAUSAL, MASKED=False,
    )  # fmt: skip
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q, k_ptr, v_ptr, k_stride, v_stride, rows, all_count, stop, n_keys,
        scale_log2, BLOCK_N, HEAD_DIM, CAUSAL, MASKED=True,
    )  # fmt: skip

    out_ptrs = out_ptr + head * out_head_stride + rows[:, None] * out_stride + dims[None, :]
    tl.store(out_ptrs, (acc / row_sum[:, None]).to(out_ptr.dtype.element_ty), mask=inside)
    lse = (row_max + tl.log2(row_sum)) * 0.6931471805599453  # ln 2
    tl.store(lse_ptr + head * n_queries + rows, lse, mask=rows < n_queries)


def attention(q, k, v, causal=False, scale=None):
    """``softmax(q @ k^T * scale) @ v`` per head, and the logarithm of the sum of exponentials of each row.

    Args:
        q: ``[batch, heads, queries, width]``, contiguous; width is a power of two from 16.
        k, v: ``[batch, heads, keys, width]``, contiguous.
        causal: query ``i`` sees the keys ``0..i`` only.
        scale: ``1 / sqrt(width)`` if None.

    Returns:
        ``(out, lse)``: like ``q``, and ``[batch, heads, queries]`` in float32.
    """
    batch, heads, n_queries, width = q.shape
    n_keys = k.shape[2]
    out = tensors.empty(q, q.shape, tensors.dtype_name(q))
    lse = tensors.empty(q, (batch, heads, n_queries), "float32")
    block_m = block_n = 64
    scale = 1 / math.sqrt(width) if scale is None else scale
    attention_kernel[(triton.cdiv(n_queries, block_m), batch * heads)](
        q,
        k,
        v,
        out,
        lse,
        scale * math.log2(math.e),
        *tensors.strides(q)[1:3],
        *tensors.strides(k)[1:3],
        *tensors.strides(v)[1:3],
        *tensors.strides(out)[1:3],
        n_queries,
        n_keys,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        HEAD_DIM=width,
        CAUSAL=causal,
    )
    return out, lse


def reference(q, k, v, causal):
    """``(out, lse)`` in float64."""
    q, k, v = (tensors.in_float64(t) for t in (q, k, v))
    hidden = np.triu(np.ones((q.shape[2], k.shape[2]), bool), 1) if causal else None
    if not isinstance(q, np.ndarray):
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[3])
        if causal:
            scores = scores.masked_fill(tensors.tensor(hidden), -math.inf)
        return tensors.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal), scores.logsumexp(-1)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[3])
    if causal:
        scores = np.where(hidden, -np.inf, scores)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v, (top + np.log(total))[..., 0]


VARIANTS = {
    "flash attention": {},
    "flash attention, causal": {"causal": True},
    "flash attention, float32": {"dtype": "float32"},
    "flash attention, ragged": {"n": 331, "causal": True, "dtype": "float32"},
}


def make(batch=2, heads=4, n=512, width=64, dtype="float16", causal=False):
    """The work of one attention over ``[batch, heads, n, width]``."""
    q, k, v = (tensors.normal((batch, heads, n, width), dtype, seed=11 + i) for i in range(3))
    return tensors.Work(
        shape=f"{batch}x{heads}x{n}x{width}",
        dtype=dtype,
        run=lambda: attention(q, k, v, causal),
        expect=lambda: reference(q, k, v, causal),
        tolerance=2e-3 if dtype == "float16" else 1e-5,
    )


def check(**variant):
    """Compare with the reference: ``(shape, dtype, max_error, bound)``."""
    return make(**variant).check()


if __name__ == "__main__":
    for name, variant in VARIANTS.items():
        print(name, check(**variant))
