"""Random chains of shape operations, reductions, scans, sorts and gathers on one tile, compared with NumPy step for step."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generated_kernels import kernel_from

DTYPES = {
    "int32": np.int32,
    "int8": np.int8,
    "int64": np.int64,
    "float32": np.float32,
    "bfloat16": ml_dtypes.bfloat16,
    "int1": np.bool_,
}
LARGEST = 2048


def factorizations(draw: Any, volume: int) -> list[int]:
    """A random shape of ``volume`` elements and rank 1 to 4."""
    shape = []
    rest = volume
    for _ in range(draw(st.integers(0, 3))):
        extent = draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
        shape.append(extent)
        rest //= extent
    return [*shape, rest]


def step(draw: Any, x: np.ndarray) -> tuple[str, np.ndarray]:
    """(source of an expression in ``x``, its value)."""
    rank = x.ndim
    axis = draw(st.integers(0, rank - 1))
    kinds = ["reshape", "permute", "expand", "flip", "sort", "where", "index"]
    kinds += ["trans"] if rank >= 2 else []
    kinds += ["join", "interleave", "cat", "broadcast"] if 2 * x.size <= LARGEST and rank <= 4 else []
    kinds += ["split"] if x.shape[-1] == 2 and rank >= 2 else []
    kinds += ["squeeze"] if x.shape[axis] == 1 and rank >= 2 else []
    kinds += ["max", "argmin", "slice"] if rank >= 2 else []
    kinds += ["cumsum", "xor_sum", "gather"] if x.dtype == np.int32 else []
    kind = draw(st.sampled_from(kinds))
    if kind == "reshape":
        shape = factorizations(draw, x.size)
        return f"tl.reshape(x, {shape})", x.reshape(shape)
    if kind == "permute":
        order = draw(st.permutations(range(rank)))
        return f"tl.permute(x, {list(order)})", x.transpose(order)
    if kind == "trans":
        return "tl.trans(x)", x.swapaxes(-1, -2)
    if kind == "expand":
        return f"tl.expand_dims(x, {axis})", np.expand_dims(x, axis)
    if kind == "squeeze":
        return f"tl.squeeze(x, {axis})", np.squeeze(x, axis)
    if kind == "flip":
        return f"tl.flip(x, {axis})", np.flip(x, axis)
    if kind == "sort":
        down = draw(st.booleans())
        order = np.sort(x.astype(np.float64) if x.dtype == ml_dtypes.bfloat16 else x, axis, kind="stable").astype(
            x.dtype
        )
        return f"tl.sort(x, {axis}, descending={down})", np.flip(order, axis) if down else order
    if kind == "where":
        return "tl.where(x > 0, x, 0 * x)" if x.dtype != np.bool_ else "tl.where(x, ~x, x)", np.where(
            x > 0, x, 0 * x
        ) if x.dtype != np.bool_ else np.zeros_like(x)
    if kind == "index":
        return "x[None]", x[None]
    if kind == "join":
        return "tl.join(x, x ^ x)" if x.dtype.kind in "ib" else "tl.join(x, x)", np.stack(
            [x, x ^ x if x.dtype.kind in "ib" else x], -1
        )
    if kind == "interleave":
        return "tl.interleave(x, x)", np.repeat(x, 2, -1)
    if kind == "cat":
        return f"tl.cat(x, x, dim={axis})", np.concatenate([x, x], axis)
    if kind == "broadcast":
        shape = [2, *x.shape]
        return f"tl.broadcast_to(x, {shape})", np.broadcast_to(x, shape)
    if kind == "split":
        side = draw(st.integers(0, 1))
        return f"tl.split(x)[{side}]", x[..., side]
    if kind == "slice":
        start = draw(st.integers(0, x.shape[0] - 1))
        return f"x[{start}:]", x[start:]
    if kind == "max":
        wide = np.float32 if x.dtype == ml_dtypes.bfloat16 else np.int32 if x.dtype.itemsize < 4 else x.dtype
        return f"tl.max(x, {axis})", x.max(axis).astype(wide)
    if kind == "argmin":
        return f"tl.argmin(x, {axis})", np.argmin(x.astype(np.float64), axis).astype(np.int32)
    if kind == "cumsum":
        return f"tl.cumsum(x, {axis}, reverse=True)", np.flip(np.cumsum(np.flip(x, axis), axis, dtype=np.int32), axis)
    if kind == "xor_sum":
        return f"tl.xor_sum(x, {axis}, keep_dims=True)", np.bitwise_xor.reduce(x, axis, keepdims=True)
    index = np.abs(x.astype(np.int64)) % x.shape[axis]
    return (
        f"tl.gather(x, ((x.to(tl.int64) ^ (x.to(tl.int64) >> 63)) - (x.to(tl.int64) >> 63)) % {x.shape[axis]}, {axis})",
        np.take_along_axis(x, index, axis),
    )


def name_of(dtype: Any) -> str:
    return next(name for name, value in DTYPES.items() if np.dtype(value) == dtype)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_chains(data: Any) -> None:
    dtype = DTYPES[data.draw(st.sampled_from(list(DTYPES)))]
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 4, 8, 3, 5]), min_size=1, max_size=3)))
    seed = data.draw(st.integers(0, 99))
    x = np.random.default_rng(seed).integers(-5, 6, shape).astype(dtype)
    source, want = [], x
    for _ in range(data.draw(st.integers(1, 7))):
        text, want = step(data.draw, want)
        if want.dtype not in [np.dtype(d) for d in DTYPES.values()] or want.ndim == 0:
            break
        source.append(f"    x = {text}\n    tl.static_assert(x.dtype == tl.{name_of(want.dtype)})\n")
        source.append(f"    tl.static_assert(x.shape == {tuple(want.shape)})\n")
    else:
        want = np.ascontiguousarray(want)
        volume = f"tl.arange(0, {x.size})"
        program = (
            f"def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr + tl.reshape({volume}, {list(shape)}))\n{''.join(source)}"
            f"    tl.store(out_ptr + tl.reshape(tl.arange(0, {want.size}), {list(want.shape)}), x)\n"
        )
        out = np.zeros(want.shape, want.dtype)
        kernel_from(program, "kernel")[(1,)](x, out)
        if want.dtype.kind in "ib":
            assert out.tolist() == want.tolist(), program
        else:
            assert ((out == want) | (np.isnan(out) & np.isnan(want))).all(), program
