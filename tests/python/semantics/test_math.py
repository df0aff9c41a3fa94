"""Mathematical functions against mpmath, within the distance that docs/semantics.md states; special values as in C17, annex F."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
import scipy.special
from semantics_support import FORMATS, FP8, NUMPY, apply, assert_same, edges, pairs, round_to, ulp_distance

import trivet as triton
import trivet.language as tl
from trivet.language.extra import libdevice


@triton.jit
def _unary_kernel(x_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i)))


def unary(function: Any, x: np.ndarray, out: str | None = None) -> np.ndarray:
    """An operation of the language (not a @jit function) on a tile; F is a compile-time value, so operations can be passed."""
    result = np.zeros(x.size, NUMPY[out] if out else x.dtype)
    _unary_kernel[(1,)](x, result, F=function, N=x.size)
    return result


class Function(NamedTuple):
    """A row: the reference, where it is sampled, and the distance allowed in f32 and f64, in ulp (docs/semantics.md)."""

    reference: Callable[[Any], Any]
    low: float
    high: float
    ulp32: float
    ulp64: float


mp = mpmath.mp


def _erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


FUNCTIONS = {
    "exp": Function(mp.exp, -87.0, 88.0, 0.501, 0.6),
    "exp2": Function(lambda x: mp.mpf(2) ** x, -126.0, 127.0, 0.501, 0.6),
    "exp10": Function(lambda x: mp.mpf(10) ** x, -37.0, 38.0, 0.501, 0.51),
    "expm1": Function(mp.expm1, -20.0, 80.0, 0.501, 0.51),
    "log": Function(mp.log, 1e-30, 1e30, 0.501, 0.6),
    "log2": Function(lambda x: mp.log(x, 2), 1e-30, 1e30, 0.501, 0.6),
    "log10": Function(mp.log10, 1e-30, 1e30, 0.501, 0.51),
    "log1p": Function(mp.log1p, -0.99, 1e10, 0.501, 0.51),
    "sin": Function(mp.sin, -1e6, 1e6, 0.501, 0.6),
    "cos": Function(mp.cos, -1e6, 1e6, 0.501, 0.6),
    "tan": Function(mp.tan, -1e6, 1e6, 0.501, 0.6),
    "sinpi": Function(mp.sinpi, -100.0, 100.0, 0.501, 0.51),
    "cospi": Function(mp.cospi, -100.0, 100.0, 0.501, 0.51),
    "asin": Function(mp.asin, -1.0, 1.0, 0.501, 0.6),
    "acos": Function(mp.acos, -1.0, 1.0, 0.501, 0.6),
    "atan": Function(mp.atan, -1e5, 1e5, 0.501, 0.6),
    "sinh": Function(mp.sinh, -80.0, 80.0, 0.501, 0.51),
    "cosh": Function(mp.cosh, -80.0, 80.0, 0.501, 0.51),
    "tanh": Function(mp.tanh, -10.0, 10.0, 0.501, 0.51),
    "asinh": Function(mp.asinh, -1e10, 1e10, 0.501, 0.51),
    "acosh": Function(mp.acosh, 1.0, 1e10, 0.501, 0.51),
    "atanh": Function(mp.atanh, -1.0, 1.0, 0.501, 0.51),
    "sqrt": Function(mp.sqrt, 0.0, 1e30, 0.5, 0.5),
    "rsqrt": Function(lambda x: 1 / mp.sqrt(x), 1e-30, 1e30, 0.501, 0.51),
    "cbrt": Function(lambda x: mp.sign(x) * mp.cbrt(abs(x)), -1e30, 1e30, 0.501, 0.51),
    "rcbrt": Function(lambda x: mp.sign(x) / mp.cbrt(abs(x)), -1e30, 1e30, 0.501, 0.51),
    "erf": Function(mp.erf, -4.0, 4.0, 0.501, 0.51),
    "erfc": Function(mp.erfc, -4.0, 9.0, 0.501, 0.51),
    "erfinv": Function(mp.erfinv, -0.999, 0.999, 0.501, 0.51),
    "erfcinv": Function(lambda x: mp.erfinv(1 - x), 0.001, 1.999, 0.501, 0.51),
    "erfcx": Function(_erfcx, -8.0, 20.0, 0.501, 0.9),
    "normcdf": Function(lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, -13.0, 8.0, 0.501, 1.2),
    "normcdfinv": Function(lambda x: -mp.sqrt(2) * mp.erfinv(1 - 2 * x), 0.001, 0.999, 0.501, 0.51),
    "tgamma": Function(mp.gamma, -20.5, 33.0, 0.501, 0.51),
    "cyl_bessel_i0": Function(lambda x: mp.besseli(0, x), -80.0, 80.0, 0.501, 0.51),
    "cyl_bessel_i1": Function(lambda x: mp.besseli(1, x), -80.0, 80.0, 0.501, 0.51),
}

# Functions with irrational zeros: allowed distance in ulp, and absolutely, for f32 and f64.
AROUND_ZEROS = {
    "lgamma": (Function(lambda x: mp.log(abs(mp.gamma(x))), 0.01, 1e5, 1, 1), 2.0**-22, 2.0**-50),
    "j0": (Function(lambda x: mp.besselj(0, x), -60.0, 60.0, 1, 1), 2.2e-6, 5e-12),
    "j1": (Function(lambda x: mp.besselj(1, x), -60.0, 60.0, 1, 1), 2.2e-6, 5e-12),
    "y0": (Function(lambda x: mp.bessely(0, x), 0.01, 60.0, 1, 1), 2.2e-6, 5e-12),
    "y1": (Function(lambda x: mp.bessely(1, x), 0.01, 60.0, 1, 1), 2.2e-6, 5e-12),
}
IN_TL_MATH = ["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf"]

# Values of `mpmath` are kept to 200 bits: sin(1e6) and erfinv near 1 cancel.
PRECISION_BITS = 200


def points(row: Function, dtype: str, count: int = 64) -> np.ndarray:
    """Points of the domain: evenly spaced, and crowding around zero where the domain allows."""
    rng = np.random.default_rng(5)
    even = rng.uniform(row.low, row.high, count // 2)
    scale = min(abs(row.high), 1.0) if row.low <= 0 else 1.0
    near = scale * 10.0 ** rng.uniform(-6, 0, count // 2)
    near = np.where(rng.integers(0, 2, count // 2) == 1, -near, near) if row.low < 0 else near
    x = np.concatenate([even, near])
    x = np.clip(x, row.low + 1e-3 * (row.low == -1.0), row.high - 1e-3 * (row.high == 1.0))
    return np.clip(x, -FORMATS[dtype].largest, FORMATS[dtype].largest).astype(NUMPY[dtype])


def true_values(row: Function, x: np.ndarray) -> list[Any]:
    with mpmath.workprec(PRECISION_BITS):
        return [row.reference(mp.mpf(float(v))) for v in x]


def distances(got: np.ndarray, true: list[Any], dtype: str) -> np.ndarray:
    """|got - true| in ulp of ``dtype`` at the true value, exactly."""
    form = FORMATS[dtype]
    results = []
    with mpmath.workprec(PRECISION_BITS):
        for g, t in zip(got, true, strict=True):
            exponent = max(int(mpmath.frexp(t)[1]) - 1, 1 - form.bias) - form.mantissa
            results.append(float(abs(mp.mpf(float(g)) - t) / mp.mpf(2) ** exponent))
    return np.array(results)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_accuracy(name: str) -> None:
    row = FUNCTIONS[name]
    for dtype, bound in (("float32", row.ulp32), ("float64", row.ulp64)):
        x = points(row, dtype)
        true = true_values(row, x)
        got = unary(getattr(libdevice, name), x)
        far = distances(got, true, dtype)
        worst = int(far.argmax())
        assert far[worst] <= bound, (
            name,
            dtype,
            float(x[worst]),
            float(got[worst]),
            float(true[worst]),
            float(far[worst]),
        )
        if name in IN_TL_MATH:
            assert_same(unary(getattr(tl.math, name), x), got, name)
            assert_same(unary(getattr(tl, name), x), got, name)


@pytest.mark.parametrize("name", AROUND_ZEROS)
def test_accuracy_around_zeros(name: str) -> None:
    row, absolute32, absolute64 = AROUND_ZEROS[name]
    for dtype, absolute in (("float32", absolute32), ("float64", absolute64)):
        x = points(row, dtype)
        got = unary(getattr(libdevice, name), x)
        true = true_values(row, x)
        error = np.array([float(abs(mp.mpf(float(g)) - t)) for g, t in zip(got, true, strict=True)])
        assert (error <= absolute + np.spacing(np.abs(got)).astype(float)).all(), (name, dtype, error.max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_narrow_formats(name: str) -> None:
    """As for f32, then rounded: at most a hair over half an ulp from the true value."""
    row = FUNCTIONS[name]
    for dtype in ("float16", "bfloat16"):
        x = points(row, dtype, 32)
        true = np.array([float(v) for v in true_values(row, x)])
        got = unary(getattr(libdevice, name), x)
        representable = np.abs(true) < FORMATS[dtype].largest
        far = ulp_distance(got[representable], true[representable], dtype)
        assert far.max() <= 0.502, (name, dtype, x[representable][far.argmax()], far.max())


@pytest.mark.parametrize("dtype", FP8)
def test_all_of_fp8(dtype: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(NUMPY[dtype])
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        for name, reference in (("exp", np.exp), ("sqrt", np.sqrt), ("tanh", np.tanh), ("log2", np.log2)):
            want = round_to(reference(wide), dtype, saturate=True)
            assert_same(unary(getattr(libdevice, name), x), want, name)


# --- special values -------------------------------------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5]
NUMPY_NAMES = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "sqrt": np.sqrt, "cbrt": np.cbrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint, "nearbyint": np.rint, "erf": scipy.special.erf, "erfc": scipy.special.erfc,
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPY_NAMES)
def test_special_values(name: str) -> None:
    x = np.array(SPECIAL)
    with np.errstate(all="ignore"):
        want = NUMPY_NAMES[name](x)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        got = unary(getattr(libdevice, name), x.astype(NUMPY[dtype])).astype(float)
        # Which values they are; how near is test_accuracy's business.
        exact = np.isnan(want) | np.isinf(want) | (want == np.rint(want))
        assert_same(np.where(exact, got, 0.0), np.where(exact, want, 0.0), name, dtype)


TABLE = {
    "rsqrt": [np.inf, -np.inf, 0.0, np.nan, np.nan, 1.0, np.nan],
    "rcbrt": [np.inf, -np.inf, 0.0, -0.0, np.nan, 1.0, -1.0],
    "saturate": [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.5],
    "sinpi": [0.0, -0.0, np.nan, np.nan, np.nan, 0.0, -0.0, 1.0],
    "cospi": [1.0, 1.0, np.nan, np.nan, np.nan, -1.0, -1.0, 0.0],
    "logb": [-np.inf, -np.inf, np.inf, np.inf, np.nan, 0.0, 0.0, -1.0],
    "round": [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1.0],
    "tgamma": [np.inf, -np.inf, np.inf, np.nan, np.nan, 1.0, np.nan],
    "lgamma": [np.inf, np.inf, np.inf, np.inf, np.nan, 0.0, np.inf],
    "erfcinv": [np.inf, np.inf, np.nan, np.nan, np.nan, 0.0, np.nan],
    "normcdf": [0.5, 0.5, 1.0, 0.0, np.nan],
    "normcdfinv": [-np.inf, -np.inf, np.nan, np.nan, np.nan, np.inf, np.nan, 0.0],
    "erfcx": [1.0, 1.0, 0.0, np.inf, np.nan],
    "exp10": [1.0, 1.0, np.inf, 0.0, np.nan, 10.0],
    "erfinv": [0.0, -0.0, np.nan, np.nan, np.nan, np.inf, -np.inf],
    "cyl_bessel_i0": [1.0, 1.0, np.inf, np.inf, np.nan],
    "cyl_bessel_i1": [0.0, -0.0, np.inf, -np.inf, np.nan],
    "j0": [1.0, 1.0, 0.0, 0.0, np.nan],
    "j1": [0.0, -0.0, 0.0, -0.0, np.nan],
    "y0": [-np.inf, -np.inf, 0.0, np.nan, np.nan],
    "y1": [-np.inf, -np.inf, 0.0, np.nan, np.nan],
}


@pytest.mark.parametrize("name", TABLE)
def test_special_values_by_table(name: str) -> None:
    want = np.array(TABLE[name])
    for dtype in ("float32", "float64"):
        got = unary(getattr(libdevice, name), np.array(SPECIAL, dtype))[: want.size].astype(float)
        if name in ("j1",):
            got, want = np.abs(got), np.abs(want)  # the sign of a Bessel function's limit at infinity is no matter
        assert_same(got, want, name, dtype)


# --- rounding to integers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_to_integers(dtype: str) -> None:
    x = np.concatenate(
        [edges(dtype).astype(float), np.arange(-12, 12) / 2, [2.0**22 + 0.5, -(2.0**22) - 0.5, 0.49999997, 1e15]]
    )
    with np.errstate(over="ignore"):
        x = np.resize(x, 64).astype(NUMPY[dtype])
    wide = x.astype(np.float64)
    away = np.where(np.isfinite(wide), np.copysign(np.floor(np.abs(wide) + 0.5), wide), wide)
    away = np.where(np.abs(wide) < 0.5, np.copysign(0.0, wide), away)  # the sum above may round up
    table = {
        "floor": np.floor,
        "ceil": np.ceil,
        "trunc": np.trunc,
        "rint": np.rint,
        "nearbyint": np.rint,
        "round": lambda v: away,
    }
    for name, reference in table.items():
        assert_same(unary(getattr(libdevice, name), x), reference(wide).astype(x.dtype), name)
    assert_same(unary(tl.floor, x), np.floor(wide).astype(x.dtype))
    assert_same(unary(tl.ceil, x), np.ceil(wide).astype(x.dtype))


# --- tl.math's own -------------------------------------------------------------------------------------------------------------


@triton.jit
def fdiv(x, y):
    return tl.fdiv(x, y)


@triton.jit
def div_rn(x, y):
    return tl.div_rn(x, y)


@triton.jit
def sqrt_rn(x):
    return tl.sqrt_rn(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_division_and_root(dtype: str) -> None:
    x, y = pairs(dtype, dtype)
    with np.errstate(all="ignore"):
        assert_same(apply(fdiv, dtype, x, y), x / y)
        assert_same(apply(div_rn, dtype, x, y), x / y)
        assert_same(apply(sqrt_rn, dtype, x), np.sqrt(x))


@triton.jit
def methods(x):
    return x.exp() + x.abs().sqrt() + x.sin() * x.cos() + x.abs().log() + x.erf() + x.floor() - x.ceil()


def test_methods() -> None:
    x = np.linspace(-3, 3, 64).astype(np.float32)
    w = x.astype(float)
    want = (
        np.exp(w)
        + np.sqrt(np.abs(w))
        + np.sin(w) * np.cos(w)
        + np.log(np.abs(w))
        + scipy.special.erf(w)
        + np.floor(w)
        - np.ceil(w)
    )
    np.testing.assert_allclose(apply(methods, "float32", x), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", IN_TL_MATH)
def test_integers_are_refused(name: str) -> None:
    with pytest.raises(triton.errors.CompileError, match="expected a float"):
        unary(getattr(tl, name), np.arange(4, dtype=np.int32))


def test_pi_is_reduced_exactly() -> None:
    """Arguments far past 2^53 still have the sine of exactly that number."""
    x = np.array([1e22, 2.0**1000, -1e300, float(np.pi)])
    with mpmath.workprec(1300):
        want = [float(mp.sin(mp.mpf(float(v)))) for v in x]
    assert np.abs(unary(tl.sin, x) - want).max() <= math.ulp(1.0)
