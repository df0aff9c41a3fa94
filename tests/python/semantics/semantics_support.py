"""What the semantics tests share: element types with edge values, exact rounding, and kernels that apply a function to tiles.

Nothing here asks Trivet what a value should be. Floats are decoded by ml_dtypes, computed in float64 (or, where that is not
exact, in a way that the test explains), and rounded once by ``round_to``, which is checked in test_casts.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import trivet as triton
import trivet.language as tl


@dataclass(frozen=True)
class Format:
    """A binary float format: values (1 + m / 2^mantissa) * 2^(e - bias), as docs/semantics.md tabulates them."""

    mantissa: int
    bias: int
    largest: float
    has_infinity: bool = True
    has_nan: bool = True
    has_minus_zero: bool = True


FORMATS = {
    "float8e4nv": Format(3, 7, 448.0, has_infinity=False),
    "float8e5": Format(2, 15, 57344.0),
    "float8e4b8": Format(3, 8, 240.0, has_infinity=False, has_minus_zero=False),
    "float8e5b16": Format(2, 16, 57344.0, has_infinity=False, has_minus_zero=False),
    "float16": Format(10, 15, 65504.0),
    "bfloat16": Format(7, 127, float.fromhex("0x1.fep127")),
    "float32": Format(23, 127, float(np.finfo(np.float32).max)),
    "float64": Format(52, 1023, float(np.finfo(np.float64).max)),
}
NUMPY = {
    "int1": np.dtype(bool),
    **{
        name: np.dtype(name)
        for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
    },
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8e5": np.dtype(ml_dtypes.float8_e5m2),
    "float8e4b8": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "float8e5b16": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FP8 = ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16"]
WIDE_FLOATS = ["float16", "bfloat16", "float32", "float64"]
FLOATS = FP8 + WIDE_FLOATS
DTYPES = ["int1", *INTEGERS, *FLOATS]


def language_dtype(name: str) -> Any:
    """The element type of the language: ``tl.float16``."""
    return getattr(tl, name)


def bits_of(name: str) -> int:
    return 1 if name == "int1" else 8 * NUMPY[name].itemsize


# --- values ----------------------------------------------------------------------------------------------------------------


def _float_edges(name: str) -> list[float]:
    """Eight magnitudes: zero, least subnormal, largest subnormal, least normal, one and a neighbour, largest, infinity."""
    form = FORMATS[name]
    least = 2.0 ** (1 - form.bias - form.mantissa) if name != "float64" else 5e-324
    normal = 2.0 ** (1 - form.bias) if name != "float64" else np.finfo(np.float64).tiny
    return [
        0.0,
        least,
        normal - least,
        normal,
        1.0,
        1.0 + 2.0**-form.mantissa,
        form.largest,
        np.inf if form.has_infinity else 3.0,
    ]


def edges(name: str) -> np.ndarray:
    """Sixteen values of a type: extremes, zeros, ones, subnormals, infinities and NaN as far as it has them."""
    if name == "int1":
        return np.array([False, True] * 8)
    if name in FORMATS:
        values = _float_edges(name)
        both = values + [-v for v in values[:-1]] + [np.nan if FORMATS[name].has_nan else -3.0]
        return np.array(both, np.float64).astype(NUMPY[name])
    limits = np.iinfo(name)
    low, high = int(limits.min), int(limits.max)
    values = [
        low,
        low + 1,
        low // 2,
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        100,
        high // 2,
        high // 3,
        high - 1,
        high,
        -1 if low else high - 2,
    ]
    return np.array(values, name)


def pairs(a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    """Every edge value of ``a`` with every one of ``b``: two arrays of 256."""
    return np.repeat(edges(a), 16), np.tile(edges(b), 16)


def sample(name: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random values of a type: integers over the whole range, floats around 1 in magnitude."""
    rng = np.random.default_rng(seed)
    if name == "int1":
        return rng.integers(0, 2, shape).astype(bool)
    if name in FORMATS:
        return rng.standard_normal(shape).astype(NUMPY[name])
    limits = np.iinfo(name)
    return rng.integers(limits.min, limits.max, shape, name, endpoint=True)


def as_double(array: np.ndarray) -> np.ndarray:
    """Values as float64: exact for every type but 64-bit integers, for which see ``integer_to_double``."""
    return integer_to_double(array) if array.dtype.kind in "iu" else array.astype(np.float64)


def integer_to_double(array: np.ndarray) -> np.ndarray:
    """Integers as float64, rounded to odd, so that a further rounding to 50 bits or fewer is the only one that counts."""

    def convert(value: int) -> float:
        magnitude = abs(value)
        if magnitude >> 52:
            magnitude = magnitude >> 12 << 12 | (0x1000 if magnitude & 0xFFF else 0)
        return float(-magnitude if value < 0 else magnitude)

    return np.array([convert(int(v)) for v in array.ravel()], np.float64).reshape(array.shape)


def round_to(values: np.ndarray, name: str, mode: str = "rtne", saturate: bool = False) -> np.ndarray:
    """float64 values rounded once to a narrower format.

    Args:
        values: exact results, or ones of which float64 keeps enough bits (at least 2 * mantissa + 2).
        name: a key of FORMATS.
        mode: "rtne", "rtz", "rtp" or "rtn".
        saturate: whether what is too large, infinity included, becomes the largest finite value.
    """
    form = FORMATS[name]
    values = np.asarray(values, np.float64)
    if name == "float64":
        return values.copy()
    with np.errstate(all="ignore"):
        magnitude = np.abs(values)
        exponent = np.maximum(np.frexp(magnitude)[1] - 1, 1 - form.bias)
        steps = np.ldexp(magnitude, form.mantissa - exponent)
        away = {"rtz": False, "rtp": values > 0, "rtn": values < 0}.get(mode)
        steps = np.rint(steps) if mode == "rtne" else np.where(away, np.ceil(steps), np.floor(steps))
        rounded = np.ldexp(steps, exponent - form.mantissa)
        too_large = rounded > form.largest
        inwards = (
            too_large & np.isfinite(values) & (mode != "rtne") & np.logical_not(away if away is not None else False)
        )
        beyond = np.inf if form.has_infinity else np.nan
        rounded = np.where(too_large, form.largest if saturate else beyond, rounded)
        rounded = np.where(inwards, form.largest, rounded)
        rounded = np.where(np.isnan(values), np.nan, rounded)
    return np.copysign(rounded, values).astype(NUMPY[name])


# --- comparison --------------------------------------------------------------------------------------------------------------


def assert_same(got: np.ndarray, want: np.ndarray, *context: Any) -> None:
    """Equal types, shapes and values; any NaN equals any other, and a zero must have the right sign."""
    assert got.dtype == want.dtype, (got.dtype, want.dtype, *context)
    assert got.shape == want.shape, (got.shape, want.shape, *context)
    if got.dtype.kind in "iub":
        same = got == want
    else:
        got, want = got.astype(np.float64), want.astype(np.float64)
        same = (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))
    if not same.all():
        at = [tuple(int(i) for i in index) for index in np.argwhere(~same)[:8]]
        found = [(index, got[index], want[index]) for index in at]
        raise AssertionError(
            f"{context}: {int((~same).sum())} of {same.size} differ; (index, found, expected): {found}"
        )


def ulp_distance(got: np.ndarray, want: np.ndarray, name: str) -> np.ndarray:
    """|got - want| in units of the format's spacing at ``want``; 0 where both are NaN or the same infinity."""
    form = FORMATS[name]
    got = got.astype(np.float64)
    want = np.asarray(want, np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(want)[1] - 1, 1 - form.bias) - form.mantissa
        distance = np.abs(got - want) / np.ldexp(1.0, exponent)
        same = (np.isnan(got) & np.isnan(want)) | (got == want)
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


# --- kernels -----------------------------------------------------------------------------------------------------------------


@triton.jit
def _apply1(x_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@triton.jit
def _apply2(x_ptr, y_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@triton.jit
def _apply3(x_ptr, y_ptr, z_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@triton.jit
def _apply4(x_ptr, y_ptr, z_ptr, w_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i), tl.load(w_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


def apply(function: Any, dtype: str, *operands: np.ndarray) -> np.ndarray:
    """``function`` of 1-D tiles; fails to compile unless the result has element type ``dtype``.

    Args:
        function: a @jit function of as many tiles as there are operands (one to four).
        dtype: expected element type of the result, a key of NUMPY.
        operands: arrays of one extent, a power of two.
    """
    kernel = {1: _apply1, 2: _apply2, 3: _apply3, 4: _apply4}[len(operands)]
    extent = operands[0].size
    out = np.zeros(extent, NUMPY[dtype])
    kernel[(1,)](*operands, out, F=function, DTYPE=language_dtype(dtype), N=extent)
    return out


@triton.jit
def index_tile(SHAPE: tl.constexpr):
    """Row-major numbers of the elements of a tile of SHAPE."""
    N: tl.constexpr = tl.constexpr(_volume(SHAPE))
    return tl.reshape(tl.arange(0, N), SHAPE)


@triton.constexpr_function
def _volume(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


@triton.jit
def _transform1(x_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, SHAPE: tl.constexpr, OUT: tl.constexpr):
    result = F(tl.load(x_ptr + index_tile(SHAPE)))
    tl.static_assert(result.dtype == DTYPE)
    tl.static_assert(len(result.shape) == len(OUT))
    for i in tl.static_range(len(OUT)):
        tl.static_assert(result.shape[i] == OUT[i])
    tl.store(out_ptr + index_tile(OUT), result)


@triton.jit
def _transform2(
    x_ptr,
    y_ptr,
    out_ptr,
    F: tl.constexpr,
    DTYPE: tl.constexpr,
    SHAPE: tl.constexpr,
    SHAPE2: tl.constexpr,
    OUT: tl.constexpr,
):
    result = F(tl.load(x_ptr + index_tile(SHAPE)), tl.load(y_ptr + index_tile(SHAPE2)))
    tl.static_assert(result.dtype == DTYPE)
    tl.static_assert(len(result.shape) == len(OUT))
    for i in tl.static_range(len(OUT)):
        tl.static_assert(result.shape[i] == OUT[i])
    tl.store(out_ptr + index_tile(OUT), result)


@triton.jit
def _transform_to_scalar(x_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, SHAPE: tl.constexpr):
    result = F(tl.load(x_ptr + index_tile(SHAPE)))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr, result)


def transform(function: Any, dtype: str, shape: tuple[int, ...], *operands: np.ndarray) -> np.ndarray:
    """``function`` of tiles of any rank; fails to compile unless the result has ``dtype`` and ``shape`` (() for a scalar)."""
    operands = tuple(np.ascontiguousarray(x) for x in operands)
    out = np.zeros(shape, NUMPY[dtype])
    common = {"F": function, "DTYPE": language_dtype(dtype), "SHAPE": operands[0].shape}
    if len(operands) == 2:
        _transform2[(1,)](*operands, out, SHAPE2=operands[1].shape, OUT=shape, **common)
    elif shape == ():
        _transform_to_scalar[(1,)](*operands, out, **common)
    else:
        _transform1[(1,)](*operands, out, OUT=shape, **common)
    return out
