"""``dot_scaled``: every pair of formats, packed along either axis, with and without scales, against decoded matrices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from semantics_support import assert_same
from test_dot import chain

import trivet as triton
import trivet.language as tl


@triton.jit
def _load(ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])


@triton.jit
def _kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, acc_ptr, out_ptr, A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A_SHAPE: tl.constexpr, B_SHAPE: tl.constexpr,
    A_K_PACK: tl.constexpr, B_K_PACK: tl.constexpr
):  # fmt: skip
    a = _load(a_ptr, A_SHAPE[0], A_SHAPE[1])
    b = _load(b_ptr, B_SHAPE[0], B_SHAPE[1])
    if a_scale_ptr is None:
        a_scale = None
    else:
        a_scale = _load(a_scale_ptr, M, K // 32)
    if b_scale_ptr is None:
        b_scale = None
    else:
        b_scale = _load(b_scale_ptr, N, K // 32)
    acc = _load(acc_ptr, M, N)
    result = tl.dot_scaled(
        a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, acc=acc, lhs_k_pack=A_K_PACK, rhs_k_pack=B_K_PACK
    )  # fmt: skip
    tl.static_assert(result.dtype == tl.float32)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], result)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
FORMATS = ["e2m1", "e4m3", "e5m2", "bf16", "fp16"]
SIXTEEN_BITS = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}
EIGHT_BITS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def operand(form: str, shape: tuple[int, int], seed: int, pack_axis: int) -> tuple[np.ndarray, np.ndarray]:
    """(what the kernel loads, the decoded matrix [shape] in f32). e2m1 packs two neighbours along ``pack_axis`` in a byte."""
    rng = np.random.default_rng(seed)
    if form == "e2m1":
        codes = rng.integers(0, 16, shape).astype(np.uint8)
        low, high = (codes[0::2], codes[1::2]) if pack_axis == 0 else (codes[:, 0::2], codes[:, 1::2])
        return np.ascontiguousarray(low | high << 4), E2M1[codes]
    values = rng.standard_normal(shape)
    if form in SIXTEEN_BITS:
        stored = values.astype(SIXTEEN_BITS[form])
        return stored, stored.astype(np.float32)
    stored = values.astype(EIGHT_BITS[form])
    return stored.view(np.uint8), stored.astype(np.float32)


def scaled(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """Rows of ``values`` [rows, K] times 2^(code - 127), a code for each 32 elements; rounded to f32."""
    if codes is None:
        return values
    factors = np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(int) - 127))
    with np.errstate(over="ignore"):
        return (values.astype(np.float64) * np.repeat(factors, 32, axis=1)).astype(np.float32)


def run(
    a_format: str, b_format: str, a_scales: bool, b_scales: bool, a_pack: bool = True, b_pack: bool = True, k: int = 64
) -> None:
    m, n = 16, 32
    a, a_values = operand(a_format, (m, k), 1, pack_axis=1 if a_pack else 0)
    b, b_values = operand(b_format, (k, n), 2, pack_axis=0 if b_pack else 1)
    rng = np.random.default_rng(3)
    a_scale = rng.integers(120, 134, (m, k // 32)).astype(np.uint8) if a_scales else None
    b_scale = rng.integers(120, 134, (n, k // 32)).astype(np.uint8) if b_scales else None
    acc = rng.standard_normal((m, n)).astype(np.float32)
    out = np.zeros((m, n), np.float32)
    _kernel[(1,)](
        a, a_scale, b, b_scale, acc, out, A_FORMAT=a_format, B_FORMAT=b_format, M=m, N=n, K=k,
        A_SHAPE=a.shape, B_SHAPE=b.shape, A_K_PACK=a_pack, B_K_PACK=b_pack
    )  # fmt: skip
    want = chain(scaled(a_values, a_scale), scaled(b_values.T, b_scale).T, acc)
    assert_same(out, want, a_format, b_format)


@pytest.mark.parametrize("b_format", FORMATS)
@pytest.mark.parametrize("a_format", FORMATS)
def test_formats(a_format: str, b_format: str) -> None:
    for a_scales, b_scales in ((True, True), (True, False), (False, True), (False, False)):
        run(a_format, b_format, a_scales, b_scales)


@pytest.mark.parametrize(("a_pack", "b_pack"), [(True, False), (False, True), (False, False)])
def test_packing_along_the_other_axis(a_pack: bool, b_pack: bool) -> None:
    run("e2m1", "e2m1", True, True, a_pack, b_pack)


def test_one_scale_and_many() -> None:
    run("e4m3", "e4m3", True, True, k=32)
    run("e4m3", "e2m1", True, True, k=256)


def test_scale_extremes() -> None:
    """Code 255 is NaN, 0 is 2^-127, 254 is 2^127."""
    m, n, k = 16, 16, 32
    a = np.full((m, k), 1.0).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    b = np.full((k, n), 1.0).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    a_scale = np.full((m, 1), 127, np.uint8)
    a_scale[1], a_scale[2], a_scale[3] = 255, 0, 254
    b_scale = np.full((n, 1), 127, np.uint8)
    out, acc = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    _kernel[(1,)](
        a, a_scale, b, b_scale, acc, out, A_FORMAT="e4m3", B_FORMAT="e4m3", M=m, N=n, K=k,
        A_SHAPE=a.shape, B_SHAPE=b.shape, A_K_PACK=True, B_K_PACK=True
    )  # fmt: skip
    assert out[0, 0] == 32
    assert np.isnan(out[1]).all()
    assert (out[2] == 32 * 2.0**-127).all()
    assert np.isinf(out[3]).all()


def test_unknown_format() -> None:
    with pytest.raises(triton.errors.CompileError, match="must be one of"):
        a = np.zeros((16, 64), np.uint8)
        _kernel[(1,)](
            a, None, a.T.copy(), None, np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float32), A_FORMAT="e3m2",
            B_FORMAT="e4m3", M=16, N=16, K=64, A_SHAPE=(16, 64), B_SHAPE=(64, 16), A_K_PACK=True, B_K_PACK=True
        )  # fmt: skip
