"""tl.rand and its kin against Philox written down independently, in Python's unbounded integers.

The constants are those of Random123 (Salmon et al., SC 2011); the first test holds this file's Philox, too, against the
known answers that come with it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl

N = 64
CONSTANTS = {
    32: (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
    64: (0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
}
SEEDS = [0, 1, 1234, 2**31, 2**32 - 1, 2**40 + 12345, 2**63 - 1, -1, -(2**63)]
OFFSETS_32 = [0, 77, 2**31 - 32]  # the last one wraps around
OFFSETS_64 = [2**33 + 1, 2**62 + 5, -(2**40)]


def philox(counter: list[int], key: list[int], n_rounds: int = 10, width: int = 32) -> list[int]:
    """Philox-4x32 or Philox-4x64 on one counter."""
    mask = 2**width - 1
    multiplier_a, multiplier_b, increment_a, increment_b = CONSTANTS[width]
    for _ in range(n_rounds):
        a, b = multiplier_a * counter[0], multiplier_b * counter[2]
        counter = [b >> width ^ counter[1] ^ key[0], b & mask, a >> width ^ counter[3] ^ key[1], a & mask]
        key = [key[0] + increment_a & mask, key[1] + increment_b & mask]
    return counter


def words(seed: int, offset: int, n_rounds: int = 10) -> list[int]:
    """The four words that ``randint4x(seed, offset)`` must give."""
    low = 0xFFFFFFFF
    return philox([offset & low, offset >> 32 & low, 0, 0], [seed & low, seed >> 32 & low], n_rounds)


def uniform(word: int) -> np.float32:
    """The float in [0, 1) that a 32-bit word becomes."""
    signed = word - 2**32 if word >= 2**31 else word
    return np.float32(-signed - 1 if signed < 0 else signed) * np.float32(4.6566127342e-10)


@triton.jit
def four_words_kernel(out_ptr, seed, first, n: tl.constexpr, n_rounds: tl.constexpr):
    i = tl.arange(0, n)
    w0, w1, w2, w3 = tl.randint4x(seed, first + i, n_rounds)
    tl.store(out_ptr + i, w0)
    tl.store(out_ptr + n + i, w1)
    tl.store(out_ptr + 2 * n + i, w2)
    tl.store(out_ptr + 3 * n + i, w3)


@triton.jit
def floats_kernel(out_ptr, seed, first, n: tl.constexpr):
    i = tl.arange(0, n)
    u0, u1, u2, u3 = tl.rand4x(seed, first + i)
    n0, n1, n2, n3 = tl.randn4x(seed, first + i)
    tl.store(out_ptr + i, tl.rand(seed, first + i))
    tl.store(out_ptr + n + i, u0)
    tl.store(out_ptr + 2 * n + i, u1)
    tl.store(out_ptr + 3 * n + i, u2)
    tl.store(out_ptr + 4 * n + i, u3)
    tl.store(out_ptr + 5 * n + i, tl.randn(seed, first + i))
    tl.store(out_ptr + 6 * n + i, n0)
    tl.store(out_ptr + 7 * n + i, n1)
    tl.store(out_ptr + 8 * n + i, n2)
    tl.store(out_ptr + 9 * n + i, n3)


@triton.jit
def philox_64_kernel(out_ptr, seed, counter_ptr, n: tl.constexpr):
    i = tl.arange(0, n)
    c0 = tl.load(counter_ptr + i)
    c1 = tl.load(counter_ptr + n + i)
    w0, w1, w2, w3 = tl.philox(seed, c0, c1, c0 ^ c1, c0 + c1)
    tl.store(out_ptr + i, w0)
    tl.store(out_ptr + n + i, w1)
    tl.store(out_ptr + 2 * n + i, w2)
    tl.store(out_ptr + 3 * n + i, w3)


@triton.jit
def uniform_kernel(out_ptr, in_ptr, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out_ptr + i, tl.uint_to_uniform_float(tl.load(in_ptr + i)))


@triton.jit
def scalar_kernel(out_ptr, float_ptr):
    tl.store(out_ptr, tl.randint(5, 7))
    tl.store(float_ptr, tl.rand(5, 7))


def four_words(seed: int, first: int, n_rounds: int = 10) -> np.ndarray:
    out = np.zeros((4, N), np.uint32)
    four_words_kernel[(1,)](out, seed, first, n=N, n_rounds=n_rounds)
    return out


def test_known_answers() -> None:
    assert philox([0, 0, 0, 0], [0, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 0xFFFFFFFF
    assert philox([ones] * 4, [ones] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert list(four_words(0, 0)[:, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("first", OFFSETS_32 + OFFSETS_64)
def test_randint4x(seed: int, first: int) -> None:
    want = np.array([words(seed, first + i) for i in range(N)], np.uint32).T
    np.testing.assert_array_equal(four_words(seed, first), want)


def test_a_negative_offset_of_32_bits_has_no_high_word() -> None:
    want = np.array([words(8, (i - 40) % 2**32) for i in range(N)], np.uint32).T
    np.testing.assert_array_equal(four_words(8, -40), want)


@pytest.mark.parametrize("n_rounds", [0, 1, 7, 13])
def test_rounds(n_rounds: int) -> None:
    want = np.array([words(99, 3 + i, n_rounds) for i in range(N)], np.uint32).T
    np.testing.assert_array_equal(four_words(99, 3, n_rounds), want)


def test_philox_64() -> None:
    counters = np.random.default_rng(3).integers(0, 2**64, (2, N), np.uint64)
    out = np.zeros((4, N), np.uint64)
    seed = 2**63 - 12345
    philox_64_kernel[(1,)](out, seed, counters, n=N)
    for i in range(N):
        c0, c1 = int(counters[0, i]), int(counters[1, i])
        assert list(out[:, i]) == philox([c0, c1, c0 ^ c1, c0 + c1 & 2**64 - 1], [seed, 0], width=64)


@pytest.mark.parametrize(("seed", "first"), [(0, 0), (42, 1000), (2**40, 2**33)])
def test_floats(seed: int, first: int) -> None:
    out = np.zeros((10, N), np.float32)
    floats_kernel[(1,)](out, seed, first, n=N)
    want = np.array([[uniform(w) for w in words(seed, first + i)] for i in range(N)], np.float32).T
    np.testing.assert_array_equal(out[0], want[0])
    np.testing.assert_array_equal(out[1:5], want)

    exact = want.astype(np.float64)
    radius = np.sqrt(-2 * np.log(np.maximum(1e-7, exact[0::2])))
    angle = 2 * math.pi * exact[1::2]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(4, N)
    np.testing.assert_array_equal(out[5], out[6])
    np.testing.assert_allclose(out[6:], normal, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
def test_uniform_stays_below_one(dtype: type) -> None:
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.max, 0, 1, limits.max // 2, limits.max // 2 + 1, 5, limits.max - 1], dtype)
    out = np.full(8, 7, np.float32)
    uniform_kernel[(1,)](out, values, n=8)
    assert (out >= 0).all() and (out < 1).all()


def test_distribution() -> None:
    rows = []
    for first in range(0, 64 * N, N):
        out = np.zeros((10, N), np.float32)
        floats_kernel[(1,)](out, 7, first, n=N)
        rows.append(out)
    out = np.concatenate(rows, axis=1)
    samples = out.shape[1]
    assert abs(out[0].mean() - 0.5) < 6 * (1 / 12 / samples) ** 0.5
    assert abs(out[5].mean()) < 6 / samples**0.5
    assert abs(out[5].var() - 1) < 6 * (2 / samples) ** 0.5


def test_scalars_and_literals() -> None:
    word, number = np.zeros(1, np.uint32), np.zeros(1, np.float32)
    scalar_kernel[(1,)](word, number)
    assert word[0] == words(5, 7)[0]
    assert number[0] == uniform(words(5, 7)[0])
