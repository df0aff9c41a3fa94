"""Random expression trees over tiles of i32 and f32, compared with NumPy to the bit."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generated_kernels import kernel_from

N = 45  # an odd extent: full vectors and a rest

# A tree is (operator, operand, ...); a leaf is a string (an input) or a number. Inputs: i0 i1 of i32, f0 f1 of f32.
INT_BINARY = ["+", "-", "*", "&", "|", "^", "//", "%", "min", "max"]
FLOAT_BINARY = ["+", "-", "*", "/", "min", "max"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]

_numbers = st.sampled_from([0, 1, -1, 2, 3, 7, -5, 100, 12345, 2**31 - 1])
_floats = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.25, -1000.0, 2.0**100])


@functools.cache
def _ints(depth: int) -> st.SearchStrategy[Any]:
    leaf = st.sampled_from(["i0", "i1"])
    if depth == 0:
        return leaf
    sub, other = _ints(depth - 1), _float_trees(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(INT_BINARY), sub, sub),
        st.tuples(st.sampled_from(["+", "-", "*", "&", "|", "^", "min", "max"]), sub, _numbers),
        st.tuples(st.sampled_from(["<<", ">>"]), sub, st.integers(0, 31)),
        st.tuples(st.sampled_from(["neg", "invert", "abs"]), sub),
        st.tuples(st.just("where"), _conditions(depth - 1), sub, sub),
        st.tuples(st.just("to_i32"), other),
    )


@functools.cache
def _float_trees(depth: int) -> st.SearchStrategy[Any]:
    leaf = st.sampled_from(["f0", "f1"])
    if depth == 0:
        return leaf
    sub, other = _float_trees(depth - 1), _ints(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(FLOAT_BINARY), sub, sub),
        st.tuples(st.sampled_from(FLOAT_BINARY), sub, _floats),
        st.tuples(st.sampled_from(["+", "-", "*", "/"]), sub, other),  # the integer becomes f32
        st.tuples(st.sampled_from(["neg", "abs", "sqrt", "floor"]), sub),
        st.tuples(st.just("where"), _conditions(depth - 1), sub, sub),
        st.tuples(st.just("to_f32"), other),
    )


@functools.cache
def _conditions(depth: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.sampled_from(COMPARISONS), _ints(depth), _ints(depth)),
        st.tuples(st.sampled_from(COMPARISONS), _float_trees(depth), _float_trees(depth)),
        st.tuples(st.sampled_from(COMPARISONS), _ints(depth), _numbers),
    )


# --- as source text -------------------------------------------------------------------------------------------------------------------

CALLS = {
    "min": "tl.minimum",
    "max": "tl.maximum",
    "abs": "tl.abs",
    "where": "tl.where",
    "sqrt": "tl.sqrt_rn",
    "floor": "tl.floor",
}


def text_of(tree: Any) -> str:
    if not isinstance(tree, tuple):
        return f"({tree})" if not isinstance(tree, str) else tree
    operator, *operands = tree
    parts = [text_of(operand) for operand in operands]
    if operator in CALLS:
        return f"{CALLS[operator]}({', '.join(parts)})"
    if operator in ("to_i32", "to_f32"):
        return f"{parts[0]}.to(tl.{'int32' if operator == 'to_i32' else 'float32'})"
    if operator in ("neg", "invert"):
        return f"({'-' if operator == 'neg' else '~'}{parts[0]})"
    return f"({parts[0]} {operator} {parts[1]})"


# --- as NumPy ---------------------------------------------------------------------------------------------------------------------------


def truncating(operator: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Division towards zero; a zero divisor gives all ones."""
    a64, b64 = a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64)
    quotient = np.sign(a64) * np.sign(b64) * (np.abs(a64) // np.abs(b64))
    return np.where(b == 0, -1, quotient if operator == "//" else a64 - quotient * b64).astype(np.int32)


def to_i32(x: np.ndarray) -> np.ndarray:
    limited = np.clip(np.trunc(np.where(np.isnan(x), 0, x).astype(np.float64)), -(2.0**31), 2.0**31 - 1)
    return limited.astype(np.int64).astype(np.int32)


def extreme(operator: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NaN is passed over; -0 is smaller than +0."""
    if a.dtype == np.int32:
        return np.minimum(a, b) if operator == "min" else np.maximum(a, b)
    before = (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b))
    result = np.where(before if operator == "min" else ~before, a, b)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, result))


NUMPY: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal, "neg": lambda x: (0 - x).astype(x.dtype),
    "invert": np.invert, "abs": np.abs, "where": np.where, "sqrt": np.sqrt, "floor": np.floor, "to_i32": to_i32, "to_f32": lambda x: x.astype(np.float32),
}  # fmt: skip


def value_of(tree: Any, inputs: dict[str, np.ndarray]) -> np.ndarray:
    if isinstance(tree, str):
        return inputs[tree]
    operator, *operands = tree
    values = [value_of(o, inputs) if isinstance(o, (str, tuple)) else o for o in operands]
    dtype = next(v.dtype for v in values if isinstance(v, np.ndarray) and v.dtype != bool)
    if any(isinstance(v, np.ndarray) and v.dtype == np.float32 for v in values):
        dtype = np.dtype(np.float32)
    values = [v if isinstance(v, np.ndarray) and v.dtype == bool else np.full(N, v).astype(dtype) for v in values]
    if operator in ("//", "%"):
        return truncating(operator, *values)
    if operator in ("min", "max"):
        return extreme(operator, *values)
    return NUMPY[operator](*values)


# --- the property ---------------------------------------------------------------------------------------------------------------------------

EDGE_INTS = [0, 1, -1, 2, 3, 31, 32, 255, -256, 65536, 2**31 - 1, -(2**31), 1 << 30, -7]
EDGE_FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-45,
    1.17549435e-38,
    3.4028235e38,
    np.inf,
    -np.inf,
    np.nan,
    2.0**31,
    -(2.0**31),
    1e10,
]


def inputs_for(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    ints, floats = [], []
    for _ in range(2):
        i = rng.integers(-(2**31), 2**31, N).astype(np.int32)
        i[rng.permutation(N)[:14]] = EDGE_INTS
        f = (rng.standard_normal(N) * 100).astype(np.float32)
        f[rng.permutation(N)[:14]] = np.array(EDGE_FLOATS, np.float32)
        ints.append(i)
        floats.append(f)
    return {"i0": ints[0], "i1": ints[1], "f0": floats[0], "f1": floats[1]}


def check(tree: Any, dtype: type, seed: int) -> None:
    loads = "".join(f"    {name} = tl.load({name}_ptr + i)\n" for name in ("i0", "i1", "f0", "f1"))
    source = (
        "def kernel(i0_ptr, i1_ptr, f0_ptr, f1_ptr, out_ptr, N: tl.constexpr):\n    i = tl.arange(0, N)\n"
        f"{loads}    result = {text_of(tree)}\n"
        f"    tl.static_assert(result.dtype == tl.{np.dtype(dtype).name})\n    tl.store(out_ptr + i, result)\n"
    )
    inputs = inputs_for(seed)
    out = np.zeros(N, dtype)
    kernel_from(source, "kernel")[(1,)](*inputs.values(), out, N=N)
    with np.errstate(all="ignore"):
        want = value_of(tree, inputs)
    assert want.dtype == out.dtype
    same = (out == want) | ((out != out) & (want != want))
    if dtype is np.float32:
        same &= (np.signbit(out) == np.signbit(want)) | np.isnan(want)
    assert same.all(), (text_of(tree), [(int(at), out[at], want[at]) for at in np.flatnonzero(~same)[:4]])


_SETTINGS = settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])


@_SETTINGS
@given(_ints(4), st.integers(0, 1000))
def test_integer_expressions(tree: Any, seed: int) -> None:
    check(tree, np.int32, seed)


@_SETTINGS
@given(_float_trees(4), st.integers(0, 1000))
def test_float_expressions(tree: Any, seed: int) -> None:
    check(tree, np.float32, seed)
