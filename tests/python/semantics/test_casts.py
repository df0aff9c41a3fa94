"""``.to()`` between every pair of element types, rounding modes, saturation, ranges, and bitcasts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from semantics_support import (
    DTYPES,
    FLOATS,
    FORMATS,
    FP8,
    INTEGERS,
    NUMPY,
    SIGNED,
    as_double,
    assert_same,
    bits_of,
    edges,
    language_dtype,
    round_to,
    sample,
)

import trivet as triton
import trivet.language as tl


@triton.jit
def cast_kernel(x_ptr, out_ptr, DTYPE: tl.constexpr, ROUNDING: tl.constexpr, BITCAST: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = tl.load(x_ptr + i).to(DTYPE, fp_downcast_rounding=ROUNDING, bitcast=BITCAST)
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


def cast(x: np.ndarray, to: str, rounding: str | None = None, bitcast: bool = False) -> np.ndarray:
    out = np.zeros(x.size, NUMPY[to])
    cast_kernel[(1,)](x, out, DTYPE=language_dtype(to), ROUNDING=rounding, BITCAST=bitcast, N=x.size)
    return out


def float_to_integer(x: np.ndarray, source: str, to: str) -> np.ndarray:
    """Towards zero; out of range the nearest end; NaN 0, or the top bit alone from f64 and to 64 bits (PTX cvt)."""
    limits = np.iinfo(to)
    results = []
    for value in as_double(x):
        if np.isnan(value):
            top = -(1 << 63) if to == "int64" else 1 << (bits_of(to) - 1)
            wide = bits_of(to) == 64 or source == "float64"
            results.append(int(limits.min if to in SIGNED else top) if wide else 0)
        elif np.isinf(value):
            results.append(int(limits.max if value > 0 else limits.min))
        else:
            results.append(min(max(int(value), int(limits.min)), int(limits.max)))
    return np.array(results, to)


def integer_to_float64(x: np.ndarray) -> np.ndarray:
    return np.array([float(int(v)) for v in x])  # Python rounds once, to even


def expected(x: np.ndarray, source: str, to: str) -> np.ndarray:
    if to == "int1":
        return x.astype(np.float64) != 0 if source in FORMATS else x != 0
    if source in FORMATS and to in FORMATS:
        return x if source == to else round_to(as_double(x), to, saturate=to in FP8)
    if source in FORMATS:
        return float_to_integer(x, source, to)
    if to == "float64":
        return integer_to_float64(x)
    if to in FORMATS:
        return round_to(as_double(x), to)
    return x.astype(NUMPY[to])  # modulo 2^width


@pytest.mark.parametrize("source", DTYPES)
def test_every_pair(source: str) -> None:
    x = np.concatenate([edges(source), sample(source, (240,), seed=3)])
    for to in DTYPES:
        if source == "float64" and to in INTEGERS:
            continue  # test_float64_to_integer
        assert_same(cast(x, to), expected(x, source, to), source, to)


@pytest.mark.parametrize("to", INTEGERS)
def test_float64_to_integer(to: str) -> None:
    limits = np.iinfo(to)
    near = [float(limits.min) + d for d in (-1.5, -1.0, -0.5, 0.0, 0.5)] + [
        float(limits.max) + d for d in (-0.5, 0.0, 0.5, 1.0)
    ]
    x = np.concatenate([edges("float64"), near, [0.99, -0.99, 2.5, -2.5, 1e300, -1e300, 0.0]])
    finite = np.append(x[~np.isnan(x)], 7.0)
    padded = np.resize(finite, 64)
    assert_same(cast(padded, to), float_to_integer(padded, "float64", to), to)
    nan = cast(np.full(2, np.nan), to)
    assert_same(nan, float_to_integer(np.full(2, np.nan), "float64", to), to)


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32"])
def test_float_to_integer_near_the_ends(source: str, to: str) -> None:
    limits = np.iinfo(to)
    with np.errstate(over="ignore"):
        ends = np.array([float(limits.min), float(limits.max)]).astype(NUMPY[source])
    around = [e * f for e in ends.astype(float) for f in (0.5, 0.99, 1.0, 1.01, 2.0)]
    with np.errstate(over="ignore"):
        x = np.resize(np.array([*around, 0.5, -0.5, 1.999, -1.999, 127.9, -128.9]), 16).astype(NUMPY[source])
    assert_same(cast(x, to), float_to_integer(x, source, to), source, to)


# --- rounding -----------------------------------------------------------------------------------------------------------------


def every_half_step(name: str) -> np.ndarray:
    """f32 values between, at, and just beside the values of an 8- or 16-bit format, signs included."""
    codes = np.arange(256, dtype=np.uint8) if bits_of(name) == 8 else np.arange(0, 65536, 13, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        values = codes.view(NUMPY[name]).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    halves = (values[1:] + values[:-1]) / 2
    beyond = [values[-1] * f for f in (1.01, 1.04, 1.07, 1.2, 2.0, 1000.0)]
    exact = np.concatenate([values, halves, beyond, -np.array(beyond), [np.inf, -np.inf, np.nan, 0.0, -0.0]])
    with np.errstate(over="ignore"):
        exact = exact.astype(np.float32)
        x = np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(-np.inf))])
    return np.resize(x, 1 << int(np.ceil(np.log2(x.size))))


@pytest.mark.parametrize("rounding", [None, "rtne", "rtz"])
@pytest.mark.parametrize("to", [*FP8, "float16", "bfloat16"])
def test_rounding_between_neighbours(to: str, rounding: str | None) -> None:
    x = every_half_step(to)
    assert_same(cast(x, to, rounding), round_to(x.astype(float), to, rounding or "rtne", saturate=to in FP8))


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float64"])
def test_rounding_from_other_widths(source: str) -> None:
    for to in FP8:
        with np.errstate(over="ignore"):
            x = every_half_step(to).astype(NUMPY[source])
        for rounding in ("rtne", "rtz"):
            want = round_to(x.astype(float), to, rounding, saturate=True)
            assert_same(cast(x, to, rounding), want, source, to, rounding)


def test_double_rounding_does_not_happen() -> None:
    """1 + 2^-11 + 2^-40 rounds to f32 as a tie of f16; once from f64, it is above the tie."""
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8])
    assert cast(x, "float16").tolist() == [1 + 2.0**-10, 1.0, 1 + 2.0**-8, 1 + 2.0**-8]
    assert cast(x, "bfloat16").astype(float).tolist() == [1.0, 1.0, 1 + 2.0**-7, 1.0]
    odd = np.array([(1 << 62) + (1 << 54) + 1, (1 << 62) + (1 << 54)], np.int64)
    assert cast(odd, "bfloat16").astype(float).tolist() == [2.0**62 * (1 + 2.0**-7), 2.0**62]


def test_the_reference_rounds_as_ml_dtypes_does() -> None:
    """``round_to`` itself, against an implementation by others."""
    for name in [*FP8, "float16", "bfloat16"]:
        x = every_half_step(name)
        with np.errstate(over="ignore"):
            assert_same(round_to(x.astype(float), name), x.astype(NUMPY[name]), name)


@pytest.mark.needs_torch
def test_narrow_casts_match_torch(torch: Any) -> None:
    types = {"float8e4nv": torch.float8_e4m3fn, "float8e5": torch.float8_e5m2, "bfloat16": torch.bfloat16}
    for name, torch_type in types.items():
        x = every_half_step(name)
        finite = x[np.abs(x) <= FORMATS[name].largest]
        x = np.resize(finite, 1024)
        want = torch.from_numpy(x).to(torch_type).to(torch.float64).numpy()
        assert_same(cast(x, name).astype(np.float64), want, name)


def test_rounding_must_be_known() -> None:
    with pytest.raises(triton.errors.CompileError, match="rtne"):
        cast(edges("float32"), "float16", "up")


# --- float8e4b15, which no other library has ---------------------------------------------------------------------------------------


@triton.jit
def b15_kernel(x_ptr, codes_ptr, back_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    narrow = tl.load(x_ptr + i).to(tl.float8e4b15)
    tl.store(codes_ptr + i, narrow.to(tl.uint8, bitcast=True))
    tl.store(back_ptr + i, narrow.to(tl.float32))


@triton.jit
def b15_decode_kernel(codes_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(codes_ptr + i).to(tl.float8e4b15, bitcast=True).to(tl.float32))


def b15_value(code: int) -> float:
    exponent, mantissa = code >> 3 & 15, code & 7
    magnitude = (1 + mantissa / 8) * 2.0 ** (exponent - 15) if exponent else mantissa / 8 * 2.0**-14
    return -magnitude if code >> 7 else magnitude


def test_float8e4b15() -> None:
    table = np.array([b15_value(code) for code in range(256)], np.float32)
    decoded = np.zeros(256, np.float32)
    b15_decode_kernel[(1,)](np.arange(256, dtype=np.uint8), decoded, N=256)
    assert_same(decoded, table)
    # Every value but code 0x7f's comes back; ties round away from zero; beyond 1.75 it saturates.
    halves = (table[:126] + table[1:127]) / 2
    x = np.concatenate([table[:127], halves, [1.8, 5.0, np.inf]]).astype(np.float32)
    x = np.resize(np.concatenate([x, -x]), 512)
    codes, back = np.zeros(512, np.uint8), np.zeros(512, np.float32)
    b15_kernel[(1,)](x, codes, back, N=512)
    candidates = table[:127].astype(float)
    magnitude = np.minimum(np.abs(x.astype(float)), 1.75)
    distance = np.abs(candidates[None, :] - magnitude[:, None])
    last_nearest = 126 - np.argmin(distance[:, ::-1], axis=1)
    assert_same(back, np.copysign(candidates[last_nearest], x).astype(np.float32))


# --- bitcasts ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS])
def test_bitcast(source: str) -> None:
    x = edges(source)
    for to in [*INTEGERS, *FLOATS]:
        if bits_of(to) == bits_of(source):
            got = cast(x, to, bitcast=True)
            raw = f"uint{bits_of(to)}"
            assert_same(got.view(raw), x.view(raw), source, to)


def test_bitcast_needs_equal_widths() -> None:
    with pytest.raises(triton.errors.CompileError, match="bitcast"):
        cast(edges("int32"), "int64", bitcast=True)


# --- other spellings -----------------------------------------------------------------------------------------------------------


@triton.jit
def spellings_kernel(x_ptr, out_ptr, flag, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.static_assert(tl.cast(x, tl.int32).dtype == tl.int32)
    tl.static_assert(x.cast(tl.float64).dtype == tl.float64)
    tl.static_assert(x.to(x_ptr.dtype.element_ty).dtype == x.dtype)
    tl.static_assert(tl.cast(3, tl.float16).dtype == tl.float16)
    tl.static_assert(flag.to(tl.int32).dtype == tl.int32)
    tl.store(out_ptr + i, tl.cast(x, tl.int32) + n.to(tl.int8) + flag.to(tl.int32))


def test_spellings() -> None:
    x = np.array([1.5, -2.5, 3.0, 0.0], np.float32)
    out = np.zeros(4, np.int32)
    spellings_kernel[(1,)](x, out, True, 258, N=4)
    assert out.tolist() == [1 + 2 + 1, -2 + 2 + 1, 3 + 2 + 1, 0 + 2 + 1]


@triton.jit
def implicit_store_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i))


@pytest.mark.parametrize("to", DTYPES)
def test_stores_convert(to: str) -> None:
    """A stored value is converted to the pointer's element type as ``.to()`` converts it."""
    for source in ("int1", "int32", "float32"):
        x = edges(source)
        out = np.zeros(16, NUMPY[to])
        implicit_store_kernel[(1,)](x, out, N=16)
        assert_same(out, expected(x, source, to), source, to)


def test_bfloat16_is_ml_dtypes() -> None:
    assert NUMPY["bfloat16"] == np.dtype(ml_dtypes.bfloat16)
