"""Random integer programs with loops, branches and returns: the same text as a kernel and as Python must give the same."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trivet as triton
import trivet.language as tl
from generated_kernels import function_from

# All variables stay in 0 .. 1023, so that i32 and Python's integers agree, as do // and %.
NAMES = ["a", "b", "c", "d"]
_names = st.sampled_from(NAMES)
_atoms = st.one_of(_names, st.integers(0, 20).map(str))


@functools.cache
def _expressions() -> st.SearchStrategy[str]:
    """Values in -1023 .. 1023 * 1023, or anything that `& 1023` makes one of 0 .. 1023."""
    binary = st.builds(lambda o, x, y: f"({x} {o} {y})", st.sampled_from("+-*&|^"), _names, _atoms)
    divided = st.builds(lambda o, x, y: f"({x} {o} ({y} + 1))", st.sampled_from(["//", "%"]), _names, _names)
    chosen = st.builds(lambda x, c, y: f"({x} if {c} else {y})", _names, _conditions(), _names)
    shifted = st.builds(lambda x, k: f"({x} >> {k})", _names, st.integers(0, 9))
    least = st.builds(lambda x, y: f"{x} * ({x} < {y}) + {y} * ({x} >= {y})", _names, _names)
    return st.one_of(_atoms, binary, divided, chosen, shifted, least)


@functools.cache
def _conditions() -> st.SearchStrategy[str]:
    simple = st.builds(
        lambda x, o, y: f"{x} {o} {y}", _names, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _atoms
    )
    both = st.builds(lambda x, o, y: f"({x} {o} {y})", simple, st.sampled_from(["and", "or"]), simple)
    negated = simple.map(lambda x: f"not ({x})")
    return st.one_of(simple, both, negated)


Block = list[str]


def _indented(lines: Block) -> Block:
    return ["    " + line for line in lines]


@functools.cache
def _assignments() -> st.SearchStrategy[Block]:
    plain = st.builds(lambda n, e: [f"{n} = ({e}) & 1023"], _names, _expressions())
    pair = st.builds(
        lambda n, m, e: [f"{n}, {m} = {m}, ({e}) & 1023"] if n != m else ["pass"], _names, _names, _expressions()
    )
    augmented = st.builds(lambda n, e: [f"{n} ^= ({e}) & 1023"], _names, _expressions())
    return st.one_of(plain, pair, augmented)


@st.composite
def _blocks(draw: Any, depth: int, in_loop: bool, level: int = 0) -> Block:
    """One to three statements, nested up to ``depth``."""
    lines: Block = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(
            st.sampled_from(["assign", "assign", "if", "for", "while", "jump"] if depth else ["assign", "jump"])
        )
        if kind == "assign" or (kind == "jump" and level == 0):
            lines += draw(_assignments())
        elif kind == "if":
            lines += [f"if {draw(_conditions())}:", *_indented(draw(_blocks(depth - 1, in_loop, level + 1)))]
            if draw(st.booleans()):
                lines += [f"elif {draw(_conditions())}:", *_indented(draw(_blocks(depth - 1, in_loop, level + 1)))]
            if draw(st.booleans()):
                lines += ["else:", *_indented(draw(_blocks(depth - 1, in_loop, level + 1)))]
        elif kind == "for":
            bounds = draw(st.sampled_from(["4", "a & 7", "b & 3, c & 15", "0, d & 15, 3", "c & 7, 0, -2", "2, 2"]))
            body = draw(_blocks(depth - 1, True, level + 1))
            lines += [f"for i{level} in range({bounds}):", f"    a = (a + i{level}) & 1023", *_indented(body)]
        elif kind == "while":
            body = draw(_blocks(depth - 1, True, level + 1))
            counter = f"w{level}"
            lines += [
                f"{counter} = p & 3",
                f"while {counter} < 5 and {draw(_conditions())}:",
                f"    {counter} += 1",
                *_indented(body),
            ]
        else:
            jumps = ["return a * 3 + b", "return c"] + (["break", "continue", "break", "continue"] if in_loop else [])
            lines += [f"if {draw(_conditions())}:", f"    {draw(st.sampled_from(jumps))}"]
    return lines


_HEADER = ["a = p & 1023", "b = q & 1023", "c = (p + q) & 1023", "d = (p ^ q) & 1023"]
_FOOTER = ["return a + 3 * b + 5 * c + 7 * d"]


@triton.jit
def _run_kernel(out_ptr, p_ptr, q_ptr, F: tl.constexpr):
    n = tl.program_id(0)
    tl.store(out_ptr + n, F(tl.load(p_ptr + n), tl.load(q_ptr + n)))


P = np.array([0, 1, 2, 3, 17, 100, 511, 1023, -1, 77], np.int32)
Q = np.array([0, 5, 1, 3, 1000, 64, 2, 1023, -8, 31], np.int32)


@triton.jit
def _map_kernel(out_ptr, p_ptr, q_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(F, tl.load(p_ptr + i), tl.load(q_ptr + i)))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_blocks(3, False), st.sampled_from(["in_order", "random", "threads", "round_robin"]))
def test_programs(body: Block, schedule: str) -> None:
    source = "\n".join(["def program(p, q):", *_indented([*_HEADER, *body, *_FOOTER]), ""])
    python = function_from(source, "program")
    out = np.full(P.size, -1, np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIVET_SCHEDULE", schedule)
        _run_kernel[(P.size,)](out, P, Q, F=triton.jit(python))
    want = [python(int(p), int(q)) for p, q in zip(P, Q, strict=True)]
    assert out.tolist() == want, source
    # The same for each element of a tile.
    out = np.full(P.size, -1, np.int32)
    _map_kernel[(1,)](out, P, Q, F=triton.jit(python), N=P.size)
    assert out.tolist() == want, source
