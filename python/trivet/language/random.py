"""Random numbers from a counter: Philox, written in the language itself.

A stream is a function of (seed, offset): the same pair gives the same number in every program, on every tier, in any
order of evaluation, and the same as Triton gives. The generator is Philox-4x32 (J. Salmon, M. Moraes, R. Dror,
D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a counter of four words and a key of two go through
rounds of multiplication and exclusive or; ten rounds pass the known statistical tests.

    counter = (low word of offset, high word of offset, 0, 0)      key = (low word of seed, high word of seed)

``philox`` on 64-bit counters is Philox-4x64, with the whole seed as the first word of the key.
"""

# Kernel code: the frontend checks its types, and it means other things by them than mypy does.
# mypy: ignore-errors

from ..jit import jit
from . import core, math
from .core import constexpr

N_ROUNDS_DEFAULT = constexpr(10)

# Multipliers and key increments of the paper, section 3.3; the increments are the golden ratio and sqrt(3) - 1.
_MULTIPLIER_A_32 = constexpr(0xD2511F53)
_MULTIPLIER_B_32 = constexpr(0xCD9E8D57)
_INCREMENT_A_32 = constexpr(0x9E3779B9)
_INCREMENT_B_32 = constexpr(0xBB67AE85)
_MULTIPLIER_A_64 = constexpr(0xD2E7470EE14C6C93)
_MULTIPLIER_B_64 = constexpr(0xCA5A826395121157)
_INCREMENT_A_64 = constexpr(0x9E3779B97F4A7C15)
_INCREMENT_B_64 = constexpr(0xBB67AE8584CAA73B)


# --- integers ------------------------------------------------------------------------------------------------------------


@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """``n_rounds`` rounds of Philox on the counter ``c0..c3`` with the key ``k0, k1``.

    All words are u32 (Philox-4x32) or all u64 (Philox-4x64). Returns four words of the same type.
    """
    if c0.dtype == core.uint32:
        multiplier_a: constexpr = _MULTIPLIER_A_32
        multiplier_b: constexpr = _MULTIPLIER_B_32
        increment_a: constexpr = _INCREMENT_A_32
        increment_b: constexpr = _INCREMENT_B_32
    else:
        core.static_assert(c0.dtype == core.uint64, "philox_impl: counters must be u32 or u64")
        multiplier_a: constexpr = _MULTIPLIER_A_64
        multiplier_b: constexpr = _MULTIPLIER_B_64
        increment_a: constexpr = _INCREMENT_A_64
        increment_b: constexpr = _INCREMENT_B_64
    a = core.full([], multiplier_a, c0.dtype)
    b = core.full([], multiplier_b, c0.dtype)
    for _ in core.static_range(n_rounds):
        low_a = a * c0
        low_b = b * c2
        high_a = math.umulhi(a, c0)
        high_b = math.umulhi(b, c2)
        c0 = high_b ^ c1 ^ k0
        c1 = low_b
        c2 = high_a ^ c3 ^ k1
        c3 = low_a
        k0 = k0 + increment_a
        k1 = k1 + increment_b
    return c0, c1, c2, c3


@jit
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Philox of the counter ``c0..c3``, keyed with ``seed``.

    Args:
        seed: an integer, taken modulo 2**64.
        c0, c1, c2, c3: integers, scalars or tiles; 64-bit ``c0`` selects Philox-4x64, else Philox-4x32.
        n_rounds: rounds; fewer are faster and more regular.

    Returns:
        Four tiles of u32, or of u64.
    """
    core.static_assert(core.to_tensor(seed).dtype.is_int(), "philox: the seed must be an integer")
    key = core.cast(seed, core.uint64)
    first = core.to_tensor(c0)
    if first.dtype.primitive_bitwidth == 64:
        word: constexpr = core.uint64
        k0 = key
        k1 = key * 0
    else:
        core.static_assert(first.dtype.primitive_bitwidth == 32, "philox: counters must have 32 or 64 bits")
        word: constexpr = core.uint32
        k0 = key.to(core.uint32)
        k1 = (key >> 32).to(core.uint32)
    c0 = first.to(word)
    c1 = core.cast(c1, word)
    c2 = core.cast(c2, word)
    c3 = core.cast(c3, word)
    return philox_impl(c0, c1, c2, c3, k0, k1, n_rounds)


@jit
def randint4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four tiles of u32, uniform over all values, with the shape of ``offset``: the cheapest way to many numbers.

    Args:
        seed: an integer, taken modulo 2**64.
        offset: tile or scalar of i32, u32, i64 or u64; each value selects its own four numbers.
        n_rounds: rounds of Philox.
    """
    offset = core.to_tensor(offset)
    low = offset.to(core.uint32)
    zero = low * 0
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(core.uint32)
    else:
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@jit
def randint(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A tile of u32, uniform over all values, with the shape of ``offset``: the first of ``randint4x``."""
    word, _, _, _ = randint4x(seed, offset, n_rounds)
    return word


# --- uniform floats ------------------------------------------------------------------------------------------------------


@jit
def uint_to_uniform_float(x):
    """Integers of 32 or 64 bits, uniform over all values, to f32 uniform in ``[0, 1)``.

    The bits are read as signed, a negative value ``x`` becomes ``-x - 1``, and the result is scaled by a little less
    than 2**-31 (2**-63), so that rounding cannot reach 1.
    """
    if x.dtype.primitive_bitwidth == 32:
        signed = x.to(core.int32, bitcast=True)
        scale: constexpr = 4.6566127342e-10
    else:
        core.static_assert(x.dtype.primitive_bitwidth == 64, "uint_to_uniform_float: needs 32 or 64 bits")
        signed = x.to(core.int64, bitcast=True)
        scale: constexpr = 1.0842020432385337e-19
    return core.where(signed < 0, -signed - 1, signed) * scale


@jit
def rand(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A tile of f32, uniform in ``[0, 1)``, with the shape of ``offset``."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed, offsets, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four tiles of f32, uniform in ``[0, 1)``, each with the shape of ``offsets``."""
    w0, w1, w2, w3 = randint4x(seed, offsets, n_rounds)
    u0 = uint_to_uniform_float(w0)
    u1 = uint_to_uniform_float(w1)
    u2 = uint_to_uniform_float(w2)
    u3 = uint_to_uniform_float(w3)
    return u0, u1, u2, u3


# --- normal floats -------------------------------------------------------------------------------------------------------


@jit
def pair_uniform_to_normal(u1, u2):
    """Two independent tiles, uniform in ``[0, 1)``, to two that are normal with mean 0 and variance 1.

    Box and Muller's transform: radius ``sqrt(-2 log u1)``, angle ``2 pi u2``. ``u1`` is held above 1e-7, so no result
    exceeds 5.7.
    """
    radius = math.sqrt(-2.0 * math.log(core.maximum(1.0e-7, u1)))
    angle = 6.283185307179586 * u2
    return radius * math.cos(angle), radius * math.sin(angle)


@jit
def randn(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A tile of f32, normal with mean 0 and variance 1, with the shape of ``offset``."""
    w0, w1, _, _ = randint4x(seed, offset, n_rounds)
    normal, _ = pair_uniform_to_normal(uint_to_uniform_float(w0), uint_to_uniform_float(w1))
    return normal


@jit
def randn4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four tiles of f32, normal with mean 0 and variance 1, each with the shape of ``offset``."""
    u0, u1, u2, u3 = rand4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(u0, u1)
    n2, n3 = pair_uniform_to_normal(u2, u3)
    return n0, n1, n2, n3
