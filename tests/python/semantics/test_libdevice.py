"""libdevice by name: functions of several operands, directed rounding, integer functions, conversions; every name is covered."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import test_math
from semantics_support import FORMATS, NUMPY, assert_same, edges, pairs, round_to, sample, ulp_distance

import trivet as triton
import trivet.language as tl
from generated_kernels import kernel_from
from trivet.language.extra import libdevice


@triton.jit
def _kernel1(x_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@triton.jit
def _kernel2(x_ptr, y_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@triton.jit
def _kernel3(x_ptr, y_ptr, z_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


@triton.jit
def _kernel4(x_ptr, y_ptr, z_ptr, w_ptr, out_ptr, F: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = F(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i), tl.load(w_ptr + i))
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + i, result)


def call(name: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
    """``libdevice.<name>`` of tiles; fails to compile unless the result has element type ``dtype``."""
    kernel = [_kernel1, _kernel2, _kernel3, _kernel4][len(operands) - 1]
    out = np.zeros(operands[0].size, NUMPY[dtype])
    kernel[(1,)](*operands, out, F=getattr(libdevice, name), DTYPE=getattr(tl, dtype), N=out.size)
    return out


# --- two floats --------------------------------------------------------------------------------------------------------------


def _fdim(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0.0)).astype(x.dtype)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    def one(a: float, b: float) -> float:
        if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
            return math.nan
        return math.remainder(a, b)

    return np.array([one(float(a), float(b)) for a, b in zip(x, y, strict=True)]).astype(x.dtype)


EXACT_BINARY = {
    "copysign": np.copysign,
    "fmod": np.fmod,
    "nextafter": np.nextafter,
    "fdim": _fdim,
    "remainder": _remainder,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "div_rn": np.divide,
    "fast_dividef": np.divide,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_functions_of_two(name: str, dtype: str) -> None:
    x, y = pairs(dtype, dtype)
    x, y = np.concatenate([x, sample(dtype, (256,), 1)]), np.concatenate([y, sample(dtype, (256,), 2)])
    with np.errstate(all="ignore"):
        want = EXACT_BINARY[name](x, y)
    got = call(name, dtype, x, y)
    if name in ("fmax", "fmin"):  # NumPy does not order the zeros
        got, want = got + 0.0, want + 0.0
        zeros = (got == 0) & (want == 0)
        got, want = np.where(zeros, 0, got).astype(dtype), np.where(zeros, 0, want).astype(dtype)
    assert_same(got, want, name)


ROUNDED_BINARY = {
    "pow": (lambda x, y: x**y, np.power),
    "fast_powf": (lambda x, y: x**y, np.power),
    "atan2": (mpmath.atan2, np.arctan2),
    "hypot": (lambda x, y: mpmath.sqrt(x * x + y * y), np.hypot),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ROUNDED_BINARY)
def test_functions_of_two(name: str, dtype: str) -> None:
    reference, on_specials = ROUNDED_BINARY[name]
    rng = np.random.default_rng(4)
    x = (rng.uniform(0.01, 30, 64) if "pow" in name else rng.standard_normal(64)).astype(dtype)
    y = rng.uniform(-8, 8, 64).astype(dtype)
    with mpmath.workprec(200):
        true = [reference(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(x, y, strict=True)]
        far = test_math.distances(call(name, dtype, x, y), true, dtype)
    assert far.max() <= (0.501 if dtype == "float32" else 0.6), (name, far.max())
    x, y = pairs(dtype, dtype)
    got = call(name, dtype, x, y)
    with np.errstate(all="ignore"):
        want = on_specials(x.astype(np.float64), y.astype(np.float64))
        # Subnormal and overflowing results included; NumPy's own error is one ulp of float64.
        want = want.astype(dtype)
    assert ulp_distance(got, want, dtype).max() <= 1, name
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all(), name


def test_narrow_nextafter_steps_in_its_own_format() -> None:
    for dtype in ("float16", "bfloat16"):
        x, y = pairs(dtype, dtype)
        with np.errstate(all="ignore"):
            want = np.where((x == 0) & (y == 0), y, np.nextafter(x, y))  # C gives the second of two equal operands
            assert_same(call("nextafter", dtype, x, y), want, dtype)


# --- three and four ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms(dtype: str) -> None:
    bound = 0.502 if dtype == "float32" else 0.52
    operands = [sample(dtype, (64,), seed) for seed in range(4)]
    huge = np.array([1e30 if dtype == "float32" else 1e300], dtype)
    for count, name in ((2, "hypot"), (3, "norm3d"), (4, "norm4d")):
        xs = [np.concatenate([x[:-1], huge]) for x in operands[:count]]
        with mpmath.workprec(200):
            columns = zip(*xs, strict=True)
            true = [mpmath.sqrt(sum(mpmath.mpf(float(v)) ** 2 for v in column)) for column in columns]
            inverse = [1 / t for t in true]
        assert test_math.distances(call(name, dtype, *xs), true, dtype).max() <= bound
        assert test_math.distances(call("r" + name, dtype, *xs), inverse, dtype).max() <= bound
        # Infinity wins over NaN.
        xs = [np.array([np.nan, 0.0], dtype)] * (count - 1) + [np.array([np.inf, 0.0], dtype)]
        assert call(name, dtype, *xs).tolist() == [np.inf, 0.0]
        assert call("r" + name, dtype, *xs).tolist() == [0.0, np.inf]


# --- directed rounding ------------------------------------------------------------------------------------------------------------

MODES = {"rn": "rtne", "rz": "rtz", "ru": "rtp", "rd": "rtn"}


def _fits(values: np.ndarray) -> np.ndarray:
    """Operands whose float32 results are exact in float64."""
    return values.astype(np.float32)


@pytest.mark.parametrize("suffix", MODES)
def test_directed_rounding(suffix: str) -> None:
    rng = np.random.default_rng(8)
    x, y, z = (_fits(rng.uniform(-4, 4, 256)) for _ in range(3))
    x[:4], y[:4] = [3e38, -3e38, 1e-45, 1.0], [3e38, -3e38, 1e-45, 3.0]
    wide_x, wide_y, wide_z = (v.astype(np.float64) for v in (x, y, z))
    mode = MODES[suffix]
    assert_same(call(f"add_{suffix}", "float32", x, y), round_to(wide_x + wide_y, "float32", mode))
    assert_same(call(f"sub_{suffix}", "float32", x, -y), round_to(wide_x + wide_y, "float32", mode))
    assert_same(call(f"mul_{suffix}", "float32", x, y), round_to(wide_x * wide_y, "float32", mode))
    # float64 keeps 29 bits more than float32; quotient and root lie closer to no float32 than those can tell.
    assert_same(call(f"div_{suffix}", "float32", x, y), round_to(wide_x / wide_y, "float32", mode))
    assert_same(call(f"rcp_{suffix}", "float32", x), round_to(1 / wide_x, "float32", mode))
    assert_same(call(f"sqrt_{suffix}", "float32", np.abs(x)), round_to(np.sqrt(np.abs(wide_x)), "float32", mode))
    # Few bits each, so that the float64 sum below is exact.
    p, q, r = (np.rint(v * 256) / 256 for v in (wide_x[4:132], wide_y[4:132], wide_z[4:132]))
    want = round_to(p * q + r * 2.0**20, "float32", mode)
    assert_same(call(f"fma_{suffix}", "float32", _fits(p), _fits(q), _fits(r * 2.0**20)), want)


@pytest.mark.parametrize("name", ["fma"])
def test_fma(name: str) -> None:
    x = np.array([1 + 2.0**-23, 3.0], np.float32)
    assert call(name, "float32", x, x, -(x * x)).tolist() == [2.0**-46, 0.0]


# --- an integer and a float ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["ldexp", "scalbn"])
def test_ldexp(name: str, dtype: str) -> None:
    x = np.resize(edges(dtype), 256)
    n = np.repeat(
        np.array([0, 1, -1, 10, -24, 127, -149, 300, -300, 1100, -1100, 2**31 - 1, -(2**31), 5, -5, 3], np.int32), 16
    )
    with np.errstate(all="ignore"):
        want = np.ldexp(x, n)
    assert_same(call(name, dtype, x, n), want)


def test_powi_jn_yn() -> None:
    rng = np.random.default_rng(9)
    n = rng.integers(-6, 7, 64).astype(np.int32)
    x = rng.uniform(-5, 5, 64).astype(np.float32)
    want = np.array([float(mpmath.mpf(float(a)) ** int(b)) for a, b in zip(x, n, strict=True)])
    assert ulp_distance(call("powi", "float32", x, n), want, "float32").max() <= 0.502
    assert call("powi", "float32", np.array([np.nan, 0.0], np.float32), np.zeros(2, np.int32)).tolist() == [1.0, 1.0]
    order = np.abs(n)
    positive = np.abs(x) + np.float32(0.1)
    for name, reference in (("jn", mpmath.besselj), ("yn", mpmath.bessely)):
        want = np.array([float(reference(int(k), float(v))) for k, v in zip(order, positive, strict=True)])
        got = call(name, "float32", order, positive)
        near = np.abs(got - want) <= 2.2e-6 + 1e-6 * np.abs(want)
        assert near.all(), (name, order[~near], positive[~near], got[~near], want[~near])
        assert np.isnan(call(name, "float32", np.full(2, -1, np.int32), np.ones(2, np.float32))).all()


# --- tests and exponents ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_classification_comes_as_i32(dtype: str) -> None:
    x = edges(dtype)
    wide = x.astype(np.float64)
    for name, reference in (
        ("isnan", np.isnan),
        ("isinf", np.isinf),
        ("finitef", np.isfinite),
        ("isfinited", np.isfinite),
    ):
        assert_same(call(name, "int32", x), reference(wide).astype(np.int32), name)
    numbers = np.where(np.isnan(wide), -1.0, wide).astype(x.dtype)
    assert_same(call("signbit", "int32", numbers), np.signbit(numbers.astype(float)).astype(np.int32))
    exponents = np.frexp(np.where(np.isfinite(wide) & (wide != 0), wide, 1.0))[1] - 1
    exponents = np.where(np.isinf(wide), 2**31 - 1, np.where(np.isnan(wide) | (wide == 0), -(2**31), exponents))
    assert_same(call("ilogb", "int32", x), exponents.astype(np.int32))


# --- integers --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_integer_functions(dtype: str) -> None:
    x = np.concatenate([edges(dtype), sample(dtype, (48,))])
    width = 8 * x.itemsize
    raw = [int(v) & ((1 << width) - 1) for v in x]
    assert_same(call("clz", "int32", x), np.array([width - v.bit_length() for v in raw], np.int32))
    assert_same(call("popc", "int32", x), np.array([v.bit_count() for v in raw], np.int32))
    assert_same(call("ffs", "int32", x), np.array([(v & -v).bit_length() for v in raw], np.int32))
    reverse = np.array([int(f"{v:0{width}b}"[::-1], 2) for v in raw], f"uint{width}").view(dtype)
    assert_same(call("brev", dtype, x), reverse)
    y = np.roll(x, 7)
    assert_same(call("min", dtype, x, y), np.minimum(x, y))
    assert_same(call("max", dtype, x, y), np.maximum(x, y))
    high = [int(a) * int(b) >> width for a, b in zip(x, y, strict=True)]
    assert_same(call("mulhi", dtype, x, y), np.array(high, dtype))
    if dtype.startswith("int"):
        assert_same(call("abs", dtype, x), np.abs(x))


def wrapped(value: int, dtype: str) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if dtype == "int32" and value >> 31 else value


def low24(value: int, dtype: str) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if dtype == "int32" and value >> 23 else value


def permuted(x: int, y: int, selector: int) -> int:
    data = (x & 0xFFFFFFFF).to_bytes(4, "little") + (y & 0xFFFFFFFF).to_bytes(4, "little")
    return int.from_bytes(bytes(data[selector >> 4 * i & 7] for i in range(4)), "little")


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_functions_of_32_bit_integers(dtype: str) -> None:
    """By Python's integers, which have all the bits that a sum or product needs."""
    x, y = (np.concatenate([v, sample(dtype, (256,), seed)]) for seed, v in enumerate(pairs(dtype, dtype)))
    z = np.roll(y, 5)
    references = {
        "hadd": lambda a, b, c: (a + b) >> 1,
        "rhadd": lambda a, b, c: (a + b + 1) >> 1,
        "mul24": lambda a, b, c: low24(a, dtype) * low24(b, dtype),
        "sad": lambda a, b, c: abs(a - b) + c,
        "byte_perm": permuted,
    }
    for name, reference in references.items():
        operands = (x, y) if name in ("hadd", "rhadd", "mul24") else (x, y, z)
        values = [wrapped(reference(int(a), int(b), int(c)), dtype) for a, b, c in zip(x, y, z, strict=True)]
        assert_same(call(name, dtype, *operands), np.array(values, dtype), name)
    if dtype == "int32":  # Triton's declaration of sad: int32, int32, uint32
        assert_same(call("sad", "int32", x, y, z.view(np.uint32)), call("sad", "int32", x, y, z))


def test_halves_of_doubles() -> None:
    x = np.concatenate([edges("float64"), sample("float64", (48,))])
    bits = x.view(np.uint64)
    high, low = (bits >> np.uint64(32)).astype(np.uint32), (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    assert_same(call("double2hiint", "int32", x), high.view(np.int32))
    assert_same(call("double2loint", "int32", x), low.view(np.int32))
    assert call("hiloint2double", "float64", high.view(np.int32), low.view(np.int32)).tobytes() == x.tobytes()
    finite = np.array([1.0, 2.0, -4.0, 3.0, 1e300, 0.1, np.inf, 7.0])
    got = call("rcp64h", "float64", finite)
    assert (got.view(np.uint64) & np.uint64(0xFFFFFFFF) == 0).all()
    assert (np.abs(got - 1 / finite) <= 2.0**-19 * np.abs(1 / finite)).all()


def test_saturatef_and_rsqrt_rn() -> None:
    x = np.concatenate([edges("float32"), sample("float32", (48,))])
    assert_same(call("saturatef", "float32", x), call("saturate", "float32", x))
    assert_same(call("rsqrt_rn", "float32", x), call("rsqrt", "float32", x))


# --- conversions -----------------------------------------------------------------------------------------------------------------------

CONVERTED = {"float": "float32", "double": "float64", "int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
CONVERSIONS = [name for name in libdevice.__all__ if "2" in name and "_" in name and name.split("2")[0] in CONVERTED]
TO_INTEGER = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions(name: str) -> None:
    source, rest = name.split("2", 1)
    target, mode = rest.split("_")
    from_dtype, to = CONVERTED[source], CONVERTED[target]
    if from_dtype.startswith("float") and to.startswith("float"):
        x = np.concatenate([sample(from_dtype, (48,)), edges(from_dtype)])
        want = round_to(x, to, MODES[mode])
    elif from_dtype.startswith("float"):
        x = np.concatenate([sample(from_dtype, (60,)) * 1000, np.array([0.5, 1.5, 2.5, -0.0], from_dtype)])
        x = np.abs(x) if to.startswith("u") else x
        want = TO_INTEGER[mode](x).astype(to)
    else:
        x = np.concatenate([edges(from_dtype), sample(from_dtype, (48,))])
        want = _rounded_integers(x, to, MODES[mode])
    assert_same(call(name, to, x), want, name)


def _rounded_integers(x: np.ndarray, to: str, mode: str) -> np.ndarray:
    """Integers to floats of either width, by integer arithmetic."""
    bits = FORMATS[to].mantissa + 1
    results = []
    for value in x:
        magnitude, negative = abs(int(value)), int(value) < 0
        shift = max(magnitude.bit_length() - bits, 0)
        kept, rest = magnitude >> shift, magnitude & ((1 << shift) - 1)
        half = 1 << shift >> 1
        up = {"rtz": False, "rtp": not negative, "rtn": negative}.get(
            mode, rest > half or (rest == half and kept & 1 == 1)
        )
        results.append(math.ldexp((kept + (1 if up and rest else 0)) * (-1 if negative else 1), shift))
    return np.array(results).astype(to)


REINTERPRETED = {
    "float_as_int": ("float32", "int32"),
    "float_as_uint": ("float32", "uint32"),
    "int_as_float": ("int32", "float32"),
    "uint_as_float": ("uint32", "float32"),
    "double_as_longlong": ("float64", "int64"),
    "longlong_as_double": ("int64", "float64"),
}


@pytest.mark.parametrize("name", REINTERPRETED)
def test_reinterpretation(name: str) -> None:
    source, to = REINTERPRETED[name]
    x = edges(source)
    assert call(name, to, x).tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("name", "reference"), [("llrint", np.rint), ("llround", lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x))]
)
def test_rounding_to_i64(name: str, reference: Any) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e10, -1e10, 7.0], np.float32)
    assert_same(call(name, "int64", x), reference(x).astype(np.int64))


@pytest.mark.parametrize(
    "name", [n for n in libdevice.__all__ if n.startswith("fast_") and n not in ("fast_dividef", "fast_powf")]
)
def test_fast_functions_are_the_functions(name: str) -> None:
    plain = name.removeprefix("fast_")
    plain = plain.removesuffix("f") if plain != "erf" else plain
    x = np.linspace(0.1, 4, 64).astype(np.float32)
    assert_same(call(name, "float32", x), call(plain, "float32", x))


# --- refusals, and that nothing is left out -----------------------------------------------------------------------------------------------


def test_unknown_names_and_wrong_calls() -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(triton.errors.CompileError, match="not supported"):
        call("no_such_function", "float32", x)
    with pytest.raises(triton.errors.CompileError, match="takes 2 arguments, found 1"):
        call("pow", "float32", x)
    with pytest.raises(triton.errors.CompileError, match="expected an integer"):
        call("popc", "int32", x)


# The functions of Triton 3.6's triton.language.extra.cuda.libdevice and triton.language.extra.libdevice.
TRITON_NAMES = """
abs acos acosh add_rd add_rn add_ru add_rz asin asinh atan atan2 atanh brev byte_perm cbrt ceil clz copysign cos cosh
cospi cyl_bessel_i0 cyl_bessel_i1 div_rd div_rn div_ru div_rz double2float_rd double2float_rn double2float_ru
double2float_rz double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2ll_rd double2ll_rn
double2ll_ru double2ll_rz double2loint double2uint_rd double2uint_rn double2uint_ru double2uint_rz double2ull_rd
double2ull_rn double2ull_ru double2ull_rz double_as_longlong erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1
fast_cosf fast_dividef fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_powf fast_sinf fast_tanf fast_tanhf
fdim ffs finitef float2int_rd float2int_rn float2int_ru float2int_rz float2ll_rd float2ll_rn float2ll_ru float2ll_rz
float2uint_rd float2uint_rn float2uint_ru float2uint_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz
float_as_int float_as_uint floor fma fma_rd fma_rn fma_ru fma_rz fmod hadd hiloint2double hypot ilogb int2double_rn
int2float_rd int2float_rn int2float_ru int2float_rz int_as_float isfinited isinf isnan j0 j1 jn ldexp lgamma
ll2double_rd ll2double_rn ll2double_ru ll2double_rz ll2float_rd ll2float_rn ll2float_ru ll2float_rz llrint llround log
log10 log1p log2 logb longlong_as_double mul24 mul_rd mul_rn mul_ru mul_rz mulhi nearbyint nextafter norm3d norm4d
normcdf normcdfinv popc pow rcbrt rcp64h rcp_rd rcp_rn rcp_ru rcp_rz remainder rhadd rhypot rint rnorm3d rnorm4d round
rsqrt rsqrt_rn sad saturatef scalbn signbit sin sinh sinpi sqrt sqrt_rd sqrt_rn sqrt_ru sqrt_rz sub_rd sub_rn sub_ru
sub_rz tan tanh tgamma trunc uint2double_rn uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float
ull2double_rd ull2double_rn ull2double_ru ull2double_rz ull2float_rd ull2float_rn ull2float_ru ull2float_rz y0 y1 yn
""".split()


def test_every_name_of_triton_is_here() -> None:
    assert len(TRITON_NAMES) == 198
    assert set(TRITON_NAMES) <= set(libdevice.__all__)
    assert set(libdevice.__all__) - set(TRITON_NAMES) == {"fast_tanh", "max", "min", "powi", "saturate"}


@pytest.mark.parametrize("count", [0, 5])
def test_a_wrong_number_of_arguments_is_an_error(count: int) -> None:
    for name in libdevice.__all__:
        body = ", ".join(["x"] * count)
        source = f"def kernel(x_ptr):\n    x = tl.load(x_ptr)\n    libdevice.{name}({body})\n"
        bad = kernel_from("from trivet.language.extra import libdevice\n\n" + source, "kernel")
        with pytest.raises(
            triton.errors.CompileError, match=f"libdevice.{name}.. takes [1-4] arguments?, found {count}"
        ):
            bad[(1,)](np.ones(1, np.float32))


def test_every_name_is_tested() -> None:
    text = inspect.getsource(test_math) + Path(__file__).read_text()
    covered = set(CONVERSIONS) | {f"{op}_{mode}" for op in "add sub mul div rcp sqrt fma".split() for mode in MODES}
    covered |= {name for name in libdevice.__all__ if name.startswith("fast_")} | {"rhypot", "rnorm3d", "rnorm4d"}
    missing = [name for name in libdevice.__all__ if name not in covered and f'"{name}"' not in text]
    assert not missing
