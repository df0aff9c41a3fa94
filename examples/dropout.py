"""Dropout without a stored mask: what is dropped follows from a seed and the element's index, by Philox."""

import numpy as np

import tensors
import trivet as triton
import trivet.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=inside)


def dropout(x, p, seed):
    """``x`` (1D) with each element set to 0 with probability ``p``, the others scaled by ``1 / (1 - p)``."""
    (n,) = x.shape
    out = tensors.empty(x, x.shape, tensors.dtype_name(x))
    dropout_kernel[(triton.cdiv(n, 1024),)](x, out, n, p, seed, BLOCK=1024)
    return out


def philox_uniform(seed, n):
    """The n numbers ``tl.rand(seed, 0..n-1)`` as float32, by Philox-4x32-10 in NumPy, independent of the language."""
    low_word = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    counter = [np.arange(n, dtype=np.uint64)] + [np.zeros(n, np.uint64)] * 3
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [
            b >> half ^ counter[1] ^ np.uint64(key[0]),
            b & low_word,
            a >> half ^ counter[3] ^ np.uint64(key[1]),
            a & low_word,
        ]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    signed = counter[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, -1 - signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def reference(x, p, seed):
    """The same in float64, with the mask from ``philox_uniform``."""
    keep = tensors.tensor((philox_uniform(seed, x.shape[0]) > np.float32(p)).astype(np.float64))
    return tensors.in_float64(x) * keep / (1 - p)


VARIANTS = {"dropout": {}}


def make(n=1 << 18, p=0.25, seed=2026):
    """The work of one dropout of ``n`` elements."""
    x = tensors.normal((n,), seed=10)
    return tensors.Work(
        shape=str(n),
        dtype="float32",
        run=lambda: (dropout(x, p, seed),),
        expect=lambda: (reference(x, p, seed),),
        tolerance=1e-6,
    )


def check(n=1 << 18, p=0.25, seed=2026):
    """Compare with the reference: ``(shape, dtype, max_error, bound)``.

    Raises:
        AssertionError: two runs differ, two seeds agree, or the share of kept elements is six deviations off.
    """
    ones = tensors.tensor(np.ones(n, np.float32))
    first, second, other = (np.asarray(dropout(ones, p, s)) for s in (seed, seed, seed + 1))
    assert (first == second).all(), "the same seed gave two results"
    assert (first != other).any(), "two seeds gave the same result"
    kept = float((first != 0).mean())
    assert abs(kept - (1 - p)) < 6 * (p * (1 - p) / n) ** 0.5, f"kept {kept:.4f} of the elements, not {1 - p}"
    return make(n, p, seed).check()


if __name__ == "__main__":
    print(check())
