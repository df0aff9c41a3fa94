"""``dot``: every operand type, precision and accumulator, batches, small and ragged extents; to the bit where the order is stated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from semantics_support import DTYPES, FP8, NUMPY, assert_same, language_dtype, round_to, sample

import trivet as triton
import trivet.language as tl


@triton.jit
def _dot_kernel(
    a_ptr, b_ptr, acc_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
    OUT: tl.constexpr, DTYPE: tl.constexpr
):  # fmt: skip
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    if acc_ptr is None:
        result = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    else:
        result = tl.dot(a, b, acc=tl.load(acc_ptr + at), input_precision=PRECISION, out_dtype=OUT)
    tl.static_assert(result.dtype == DTYPE)
    tl.store(out_ptr + at, result)


def dot(
    a: np.ndarray,
    b: np.ndarray,
    dtype: str,
    acc: np.ndarray | None = None,
    precision: str | None = None,
    out: str = "float32",
) -> np.ndarray:
    """``tl.dot``; fails to compile unless the result has element type ``dtype``."""
    (m, k), n = a.shape, b.shape[1]
    result = np.zeros((m, n), NUMPY[dtype])
    _dot_kernel[(1,)](
        a, b, acc, result, M=m, N=n, K=k, PRECISION=precision, OUT=language_dtype(out), DTYPE=language_dtype(dtype)
    )
    return result


# --- the reference -------------------------------------------------------------------------------------------------------------


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of f32 values, rounded once: the product is exact in float64, the sum is rounded to odd there."""
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64)
        c = c.astype(np.float64)
        total = product + c
        part = total - product
        error = (product - (total - part)) + (c - part)
        even = (total.view(np.int64) & 1) == 0
        odd = np.where(
            (error != 0) & even & np.isfinite(total), np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total
        )
        return odd.astype(np.float32)


def chain(a: np.ndarray, b: np.ndarray, acc: np.ndarray) -> np.ndarray:
    """docs/semantics.md#dot: one chain of fused multiply-adds in f32, in order of increasing k, beginning with acc."""
    a, b, result = a.astype(np.float32), b.astype(np.float32), acc.astype(np.float32)
    for k in range(a.shape[-1]):
        result = fma32(a[..., :, k, None], b[..., None, k, :], result)
    return result


def to_tf32(x: np.ndarray) -> np.ndarray:
    """Ten mantissa bits, the rest cut off: tensor cores do not read them."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def round_to_tf32(x: np.ndarray) -> np.ndarray:
    """Ten mantissa bits of finite numbers, to nearest, ties away from zero (PTX cvt.rna.tf32.f32)."""
    return ((x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def matrices(dtype: str, m: int = 16, n: int = 16, k: int = 32) -> tuple[np.ndarray, np.ndarray]:
    return sample(dtype, (m, k), 1), sample(dtype, (k, n), 2)


# --- floats --------------------------------------------------------------------------------------------------------------------

SIZES = [
    (16, 16, 16),
    (16, 32, 64),
    (64, 16, 32),
    (1, 16, 16),
    (16, 1, 16),
    (2, 4, 8),
    (1, 1, 1),
    (16, 16, 1),
    (5, 7, 11),
    (19, 33, 3),
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", *FP8])
@pytest.mark.parametrize("size", SIZES)
def test_narrow_floats(size: tuple[int, int, int], dtype: str) -> None:
    a, b = matrices(dtype, *size)
    acc = sample("float32", (size[0], size[1]))
    assert_same(dot(a, b, "float32"), chain(a, b, np.zeros_like(acc)), dtype)
    assert_same(dot(a, b, "float32", acc), chain(a, b, acc), dtype)


@pytest.mark.parametrize("dtype", ["float16", *FP8])
def test_narrow_accumulators_round_once(dtype: str) -> None:
    a, b = matrices(dtype)
    acc = sample("float16", (16, 16))
    want = chain(a, b, np.zeros((16, 16)))
    assert_same(dot(a, b, "float16", out="float16"), round_to(want, "float16"), dtype)
    assert_same(dot(a, b, "float16", acc, out="float16"), round_to(chain(a, b, acc), "float16"), dtype)


@pytest.mark.parametrize("a_dtype", FP8)
def test_mixed_fp8(a_dtype: str) -> None:
    for b_dtype in FP8:
        a, b = matrices(a_dtype)[0], matrices(b_dtype)[1]
        assert_same(dot(a, b, "float32"), chain(a, b, np.zeros((16, 16))), a_dtype, b_dtype)


def test_f32_ieee() -> None:
    for size in SIZES:
        a, b = matrices("float32", *size)
        acc = sample("float32", (size[0], size[1]))
        assert_same(dot(a, b, "float32", acc, "ieee"), chain(a, b, acc), size)


def test_f32_tf32_is_the_default() -> None:
    for size in SIZES:
        a, b = matrices("float32", *size)
        acc = sample("float32", (size[0], size[1]))
        want = chain(to_tf32(a), to_tf32(b), acc)
        assert_same(dot(a, b, "float32", acc, "tf32"), want, size)
        assert_same(dot(a, b, "float32", acc), want, size)


def test_tf32_cuts_off() -> None:
    """As an H200 does, for mma and wgmma alike: what follows bit ten of the mantissa does not count."""
    step = np.float32(2.0**-10)
    values = [
        1 + step / 2,
        -1 - step / 2,
        1 + step * 0.999,
        2 - step / 64,
        np.finfo(np.float32).max,
        np.inf,
        2.0**-136,
        2.0**-137,
    ]
    want = [1, -1, 1, 2 - step, 2.0**127 * (2 - 2.0**-10), np.inf, 2.0**-136, 0]
    a = np.zeros((16, 16), np.float32)
    a[:8, 0] = values
    unit = np.zeros((16, 16), np.float32)
    unit[0, 0] = 1  # the other columns are 0, so that no infinity meets a zero in column 0
    assert dot(a, unit, "float32", precision="tf32")[:8, 0].tolist() == want
    a[:8, 0] = np.nan
    assert np.isnan(dot(a, unit, "float32", precision="tf32")[:8, 0]).all()


def test_tf32x3_rounds_the_large_part_and_cuts_the_small() -> None:
    """As an H200 does: times a unit matrix, x comes back as rna(x) + cut(x - rna(x))."""
    x = sample("float32", (16, 16), 3)
    large = round_to_tf32(x)
    want = large + to_tf32(x - large)
    assert (want != x).any()
    unit = np.eye(16, dtype=np.float32)
    assert_same(dot(unit, x, "float32", precision="tf32x3"), want)
    assert_same(dot(x, unit, "float32", precision="tf32x3"), want)


@pytest.mark.parametrize(("precision", "bits"), [("tf32x3", 20), ("bf16x3", 14), ("bf16x6", 21)])
def test_split_precisions(precision: str, bits: int) -> None:
    a, b = matrices("float32", 16, 16, 64)
    acc = sample("float32", (16, 16))
    exact = a.astype(float) @ b.astype(float) + acc
    terms = np.abs(a).astype(float) @ np.abs(b).astype(float) + np.abs(acc)
    got = dot(a, b, "float32", acc, precision)
    assert (np.abs(got - exact) <= (2.0**-bits + 65 * 2.0**-23) * terms).all()
    # More exact than one pass is, by far.
    once = dot(a, b, "float32", acc, "tf32")
    assert np.abs(got - exact).max() < np.abs(once - exact).max()


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3", "bf16x6"])
def test_split_precisions_keep_infinity_and_nan(precision: str) -> None:
    a = np.ones((16, 16), np.float32)
    b = np.ones((16, 16), np.float32)
    a[3, 4], a[5, 6] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        assert_same(dot(a, b, "float32", precision=precision), a @ b)


def test_f64() -> None:
    a, b = matrices("float64")
    acc = sample("float64", (16, 16))
    terms = np.abs(a) @ np.abs(b) + np.abs(acc)
    assert (np.abs(dot(a, b, "float64", acc) - (a @ b + acc)) <= 33 * 2.0**-52 * terms).all()
    integers = np.round(a * 100), np.round(b * 100)
    assert_same(dot(*integers, "float64"), integers[0] @ integers[1] + 0.0)


def test_infinity_nan_and_overflow() -> None:
    a, b = matrices("float16")
    a[0, 0], a[1, 0], a[2, 0], b[0, 0] = np.inf, -np.inf, np.nan, 0.0
    with np.errstate(all="ignore"):
        assert_same(dot(a, b, "float32"), chain(a, b, np.zeros((16, 16))))
    huge = np.full((16, 16), 6e4, np.float16)
    assert np.isinf(dot(huge, huge, "float16", out="float16")).all()
    assert (dot(huge, huge, "float32") > 5e10).all()


# --- integers --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integers(dtype: str) -> None:
    for size in SIZES:
        a, b = matrices(dtype, *size)
        acc = sample("int32", (size[0], size[1]))
        with np.errstate(over="ignore"):
            product = a.astype(np.int32) @ b.astype(np.int32)
            assert_same(dot(a, b, "int32"), product, size)
            assert_same(dot(a, b, "int32", acc), product + acc, size)


# --- batches -----------------------------------------------------------------------------------------------------------------------


@triton.jit
def _batched_kernel(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + batch * (M * K) + m[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + batch * (K * N) + k[None, :, None] * N + n[None, None, :])
    tl.store(out_ptr + batch * (M * N) + m[None, :, None] * N + n[None, None, :], tl.dot(a, b, input_precision="ieee"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
@pytest.mark.parametrize(("batch", "m", "n", "k"), [(4, 16, 16, 16), (1, 16, 32, 16), (2, 1, 4, 8)])
def test_batches(batch: int, m: int, n: int, k: int, dtype: str) -> None:
    a, b = sample(dtype, (batch, m, k), 1), sample(dtype, (batch, k, n), 2)
    if dtype == "int8":
        want = a.astype(np.int32) @ b.astype(np.int32)
    else:
        want = chain(a, b, np.zeros((batch, m, n)))
    out = np.zeros_like(want)
    _batched_kernel[(1,)](a, b, out, B=batch, M=m, N=n, K=k)
    assert_same(out, want)


# --- a whole product, ragged ----------------------------------------------------------------------------------------------------------


@triton.jit
def _matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k0 in range(0, K, BLOCK):
        k = k0 + tl.arange(0, BLOCK)
        a = tl.load(
            a_ptr + rows[:, None] * stride_am + k[None, :] * stride_ak,
            mask=(rows[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + k[:, None] * stride_bk + columns[None, :] * stride_bn,
            mask=(k[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        acc = tl.dot(a, b, acc)
    tl.store(
        c_ptr + rows[:, None] * N + columns[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(37, 50, 41), (1, 16, 100), (16, 16, 16), (33, 1, 1)])
def test_ragged_product(m: int, n: int, k: int, transposed: bool) -> None:
    a = sample("float16", (k, m)).T if transposed else sample("float16", (m, k))
    b = sample("float16", (k, n), seed=1)
    c = np.zeros((m, n), np.float16)
    strides = [s // 2 for s in (*a.strides, *b.strides)]
    _matmul_kernel[(-(-m // 16), -(-n // 16))](a, b, c, m, n, k, *strides, BLOCK=16)
    assert_same(c, round_to(chain(a, b, np.zeros((m, n))), "float16"))


@pytest.mark.needs_torch
def test_against_torch(torch: Any) -> None:
    a, b = torch.randn(64, 64, dtype=torch.bfloat16), torch.randn(64, 64, dtype=torch.bfloat16)
    c = torch.empty(64, 64, dtype=torch.float32)
    _matmul_kernel[(4, 4)](a, b, c, 64, 64, 64, *a.stride(), *b.stride(), BLOCK=16)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-4, atol=1e-4)


# --- refusals --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a_dtype", "b_dtype", "message"),
    [("float16", "float32", "same dtype"), ("int32", "int32", "unsupported dtype"), ("int8", "uint8", "same dtype")],
)
def test_type_refusals(a_dtype: str, b_dtype: str, message: str) -> None:
    with pytest.raises(triton.errors.CompileError, match=message):
        dot(matrices(a_dtype)[0], matrices(b_dtype)[1], "float32")


def test_other_refusals() -> None:
    a, b = matrices("float32")
    with pytest.raises(triton.errors.CompileError, match="input_precision must be one of"):
        dot(a, b, "float32", precision="exact")
    with pytest.raises(triton.errors.CompileError, match="acc must be"):
        dot(*matrices("int8"), "int32", sample("float32", (16, 16)))
    with pytest.raises(triton.errors.CompileError, match="bfloat16 is not supported"):
        dot(*matrices("bfloat16"), "bfloat16", out="bfloat16")


@triton.jit
def _dot_types(A: tl.constexpr, ACC: tl.constexpr, OUT: tl.constexpr, DTYPE: tl.constexpr):
    a = tl.zeros([16, 32], A)
    b = tl.zeros([32, 16], A)
    if ACC is None:
        result = tl.dot(a, b, out_dtype=OUT)
    else:
        result = tl.dot(a, b, tl.zeros([16, 16], ACC), out_dtype=OUT)
    tl.static_assert(result.dtype == DTYPE)


ONE_ACCUMULATOR = {"int8": "int32", "uint8": "int32", "bfloat16": "float32", "float32": "float32", "float64": "float64"}


@pytest.mark.parametrize("out", ["float16", "float32"])
@pytest.mark.parametrize("acc", [None, *DTYPES])
@pytest.mark.parametrize("a", [*ONE_ACCUMULATOR, "float16", *FP8])
def test_accumulator_types(a: str, acc: str | None, out: str) -> None:
    """f16 and f8 inputs sum in f32 or f16: as acc, or else out_dtype, says. Others have one type, whatever out_dtype is."""
    only = ONE_ACCUMULATOR.get(a)
    dtype = only or acc or out
    arguments = [language_dtype(a), acc and language_dtype(acc), language_dtype(out), language_dtype(dtype)]
    if acc is None or acc in ([only] if only else ["float16", "float32"]):
        _dot_types[(1,)](*arguments)
        return
    names = {"float64": "f64", "float32": "f32", "int32": "i32", None: "f32 or f16"}
    with pytest.raises(
        triton.errors.CompileError, match=f"tl.dot: acc must be {names[only]} for inputs of .*, found tile<16x16x"
    ):
        _dot_types[(1,)](*arguments)
