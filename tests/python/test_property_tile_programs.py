"""Random programs that carry tiles and scalars through loops and branches; run as Python, with NumPy behind the name ``tl``."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trivet as triton
import trivet.language as tl
from generated_kernels import function_from

# Scalars a and b, tiles x and y of i32; all stay in 0 .. 1023.
_scalars = st.sampled_from(["a", "b"])
_tiles = st.sampled_from(["x", "y"])
_numbers = st.integers(0, 20).map(str)
_atoms = st.one_of(_scalars, _numbers)
_comparisons = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])

NUMPY_LANGUAGE = SimpleNamespace(
    where=np.where,
    minimum=np.minimum,
    maximum=np.maximum,
    sum=lambda x, axis: int(x.sum(dtype=np.int32)),
    max=lambda x, axis: int(x.max()),
    min=lambda x, axis: int(x.min()),
    argmax=lambda x, axis: int(x.argmax()),
    cumsum=lambda x, axis, reverse=False: (
        np.flip(np.cumsum(np.flip(x), dtype=np.int32)) if reverse else np.cumsum(x, dtype=np.int32)
    ),
    sort=np.sort,
    flip=lambda x, axis: np.flip(x, axis),
    full=lambda shape, value, dtype: np.full(shape, value, np.int32),
    abs=np.abs,
    int32=np.int32,
)


@functools.cache
def _tile_expressions() -> st.SearchStrategy[str]:
    operators = st.sampled_from("+-*&|^")
    return st.one_of(
        st.builds(lambda t, o, u: f"({t} {o} {u})", _tiles, operators, _tiles),
        st.builds(lambda t, o, u: f"({t} {o} {u})", _tiles, operators, _atoms),
        st.builds(
            lambda t, c, n, u, v: f"tl.where({t} {c} {n}, {u}, {v})", _tiles, _comparisons, _atoms, _tiles, _tiles
        ),
        st.builds(lambda f, t, u: f"tl.{f}({t}, {u})", st.sampled_from(["minimum", "maximum"]), _tiles, _tiles),
        st.builds(lambda t, r: f"tl.cumsum({t}, 0, reverse={r})", _tiles, st.booleans()),
        st.builds(
            lambda f, t: f"tl.{f}({t}{', 0' if f == 'flip' else ''})", st.sampled_from(["sort", "flip", "abs"]), _tiles
        ),
        st.builds(lambda t, c, u: f"({t} if {c} else {u})", _tiles, _conditions(), _tiles),
        st.builds(lambda a: f"tl.full((N,), {a}, tl.int32)", _numbers),
    )


@functools.cache
def _scalar_expressions() -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda a, o, b: f"({a} {o} {b})", _scalars, st.sampled_from("+-*&|^"), _atoms),
        st.builds(lambda f, t: f"tl.{f}({t}, 0)", st.sampled_from(["sum", "max", "min", "argmax"]), _tiles),
        st.builds(lambda a, o, b: f"({a} {o} ({b} + 1))", _scalars, st.sampled_from(["//", "%"]), _scalars),
    )


@functools.cache
def _conditions() -> st.SearchStrategy[str]:
    scalar = st.builds(lambda a, c, b: f"{a} {c} {b}", _scalars, _comparisons, _atoms)
    tile = st.builds(
        lambda f, t, c, b: f"tl.{f}({t}, 0) {c} {b}",
        st.sampled_from(["sum", "max", "min"]),
        _tiles,
        _comparisons,
        _atoms,
    )
    return st.one_of(
        scalar, tile, st.builds(lambda x, o, y: f"({x} {o} {y})", scalar, st.sampled_from(["and", "or"]), tile)
    )


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def _blocks(draw: Any, depth: int, in_loop: bool, level: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(
            st.sampled_from(
                ["tile", "tile", "scalar", "swap", "if", "for", "while", "jump"]
                if depth
                else ["tile", "scalar", "jump"]
            )
        )
        if kind == "tile" or (kind == "jump" and level == 0):
            lines.append(f"{draw(_tiles)} = ({draw(_tile_expressions())}) & 1023")
        elif kind == "scalar":
            lines.append(f"{draw(_scalars)} = ({draw(_scalar_expressions())}) & 1023")
        elif kind == "swap":
            lines.append("x, y = y, x")
        elif kind == "if":
            lines += [f"if {draw(_conditions())}:", *_indented(draw(_blocks(depth - 1, in_loop, level + 1)))]
            if draw(st.booleans()):
                lines += ["else:", *_indented(draw(_blocks(depth - 1, in_loop, level + 1)))]
        elif kind == "for":
            bounds = draw(st.sampled_from(["3", "a & 7", "b & 3, a & 15", "a & 7, 0, -2"]))
            lines += [f"for i{level} in range({bounds}):", f"    x = (x + i{level}) & 1023"]
            lines += _indented(draw(_blocks(depth - 1, True, level + 1)))
        elif kind == "while":
            lines += [f"w{level} = 0", f"while w{level} < 4 and {draw(_conditions())}:", f"    w{level} += 1"]
            lines += _indented(draw(_blocks(depth - 1, True, level + 1)))
        else:
            jumps = ["return x + a", "return y"] + (["break", "continue", "break", "continue"] if in_loop else [])
            lines += [f"if {draw(_conditions())}:", f"    {draw(st.sampled_from(jumps))}"]
    return lines


@triton.jit
def _run_kernel(x_ptr, y_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    me = tl.program_id(0)
    i = me * N + tl.arange(0, N)
    tl.store(out_ptr + i, F(me, tl.load(x_ptr + i), tl.load(y_ptr + i), N))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_blocks(3, False), st.sampled_from([1, 4, 16, 13]))
def test_tile_programs(body: list[str], n: int) -> None:
    header = ["a = p * 37 & 1023", "b = p + 5"]
    lines = ["def program(p, x, y, N: tl.constexpr):", *_indented([*header, *body, "return x + 3 * y + a + 5 * b"]), ""]
    python = function_from("\n".join(lines), "program")
    rng = np.random.default_rng(n)
    x, y = (rng.integers(0, 1024, (6, n)).astype(np.int32) for _ in range(2))
    out = np.full((6, n), -1, np.int32)
    _run_kernel[(6,)](x, y, out, F=triton.jit(python), N=n)
    reference = type(python)(python.__code__, {**python.__globals__, "tl": NUMPY_LANGUAGE})
    want = [reference(p, x[p], y[p], n).tolist() for p in range(6)]
    assert out.tolist() == want, "\n".join(lines)
