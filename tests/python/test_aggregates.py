"""Aggregates: classes whose instances are values of a kernel; made, read, passed on, carried by loops, chosen by ifs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl


@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor
    n: tl.constexpr = 3

    @triton.jit
    def swapped(self):
        return Pair(self.second, self.first, self.n)

    def total(self, _semantic=None):
        return self.first + self.second * self.n

    @staticmethod
    def create(x):
        return Pair(x, x + 1, n=4)

    @triton.constexpr_function
    def twice(self):
        assert self.first.shape == (4,)  # of a run-time value Python sees the type
        return self.n * 2

    def __getitem__(self, i):
        return self.first if i == 0 else self.second

    @triton.jit
    def __add__(self, other):
        return Pair(self.first + other.first, self.second + other.second, self.n)

    @triton.jit
    def __rmul__(self, factor):
        return Pair(self.first * factor, self.second * factor, self.n)

    def __neg__(self):
        return Pair(-self.first, -self.second, self.n)

    def __call__(self, by):
        return self.first + by


@triton.jit
def _fields_kernel(out):
    p = Pair(tl.arange(0, 4), second=tl.arange(0, 4) + 1)
    tl.static_assert(p.n == 3)
    tl.store(out + tl.arange(0, 4), p.total())
    tl.store(out + 4 + tl.arange(0, 4), p.swapped().total())
    tl.store(out + 8 + tl.arange(0, 4), Pair.create(p.first).total())
    tl.store(out + 12 + tl.arange(0, 4), p[1] * 10 + p[0])


def test_fields_methods_defaults_and_indices() -> None:
    out = np.zeros(16, np.int32)
    _fields_kernel[(1,)](out)
    x = np.arange(4)
    assert out.tolist() == [*(x + (x + 1) * 3), *(x + 1 + x * 3), *(x + (x + 1) * 4), *((x + 1) * 10 + x)]


@triton.jit
def _operators_kernel(out):
    p = Pair.create(tl.arange(0, 4))
    tl.static_assert(p.twice() == 8)
    tl.static_assert(isinstance(p, Pair) and not isinstance(p.first, Pair))
    tl.static_assert(isinstance(p, tl.tensor) == False)  # noqa: E712
    tl.static_assert(p is not None and p != None)  # noqa: E711
    q = 3 * (p + -p + p)
    tl.store(out + tl.arange(0, 4), q.first)
    tl.store(out + 4 + tl.arange(0, 4), q(by=100))


def test_operators_calls_and_classes() -> None:
    out = np.zeros(8, np.int32)
    _operators_kernel[(1,)](out)
    assert out.tolist() == [0, 3, 6, 9, 100, 103, 106, 109]


@triton.aggregate
class Sum:
    pair: Pair
    steps: tl.tensor
    label: tl.constexpr

    @triton.jit
    def __init__(self, pair, start, label):
        if label == "late":
            self.steps = start + 1
        else:
            self.steps = start
        self.pair = pair
        self.label = label
        self.steps += 10

    @triton.jit
    def step(self, x):
        return tl.core.aggregate_replace(
            self, pair=Pair(self.pair.first + x, self.pair.second, self.pair.n), steps=self.steps + 1
        )


@triton.jit
def _stepped(state: Sum, x):
    if x == 1:  # returns an aggregate from both sides
        return state.step(x)
    return state.step(x * 2)


@triton.jit
def _loop_kernel(out, n, flag):
    state = Sum(Pair.create(tl.arange(0, 4)), 0, "late")
    for i in range(n):
        state = _stepped(state, i)
        if i == 2:
            state = Sum(state.pair.swapped(), state.steps, state.label)
    i = 0
    while i < 2:
        state = state.step(100)
        i += 1
    chosen = state if flag > 0 else Sum(state.pair.swapped(), state.steps, "late")
    tl.static_assert(chosen.label == "late")
    both = (chosen, state)
    tl.store(out + tl.arange(0, 4), both[0].pair.first)
    tl.store(out + 4 + tl.arange(0, 4), both[0].pair.second)
    tl.store(out + 8, chosen.steps)


@pytest.mark.parametrize("flag", [0, 1])
def test_nested_through_loops_ifs_and_returns(flag: int) -> None:
    out = np.zeros(9, np.int32)
    _loop_kernel[(1,)](out, 4, flag)
    first, second, steps = np.arange(4), np.arange(4) + 1, 11
    for i in range(4):
        first, steps = first + (i if i == 1 else 2 * i), steps + 1
        if i == 2:
            first, second, steps = second, first, steps + 11
    first, steps = first + 200, steps + 2
    if flag == 0:
        first, second, steps = second, first, steps + 11
    assert out.tolist() == [*first, *second, steps]


@triton.aggregate
class Base:
    width: tl.constexpr

    @triton.jit
    def scaled(self, x):
        return x * self.width

    @triton.jit
    def shown(self, x):
        return self.scaled(x)


@triton.aggregate
class Derived(Base):
    value: tl.tensor | tl.constexpr

    @triton.jit
    def scaled(self, x):
        return x * self.width + self.value


@triton.jit
def _inherited_kernel(out, CONFIG: tl.constexpr):
    tl.store(out, Derived(3, tl.load(out)).shown(10))
    tl.store(out + 1, Derived(3, 5).shown(10))
    tl.store(out + 2, CONFIG.shown(10))
    tl.store(out + 3, GLOBAL.scaled(10))


GLOBAL = Derived(7, 1)


def test_inheritance_and_instances_made_in_python() -> None:
    out = np.array([4, 0, 0, 0], np.int32)
    _inherited_kernel[(1,)](out, Base(6))
    assert out.tolist() == [34, 35, 60, 71]
    _inherited_kernel[(1,)](out, Base(2))  # another value, other code
    assert out[2] == 20
    assert Base(6) == Base(6) and hash(Base(6)) == hash(Base(6)) and Base(6) != Base(2)


def test_in_python_fields_are_wrapped_checked_and_fixed() -> None:
    class Shape(NamedTuple):
        x: int
        y: int

    @triton.aggregate
    class State:
        shape: tl.tuple
        n: tl.constexpr = 2

    state = State(Shape(3, tl.constexpr(7)))
    assert isinstance(state.shape, tl.tuple) and isinstance(state.shape.x, tl.constexpr)
    assert state.shape[1].value == 7 and state.n.value == 2
    assert state.n.type == tl.constexpr_type(2)
    with pytest.raises(AttributeError, match="immutable"):
        state.n = tl.constexpr(3)
    for arguments, keywords in [
        ((), {}),
        ((1, 2, 3), {}),
        ((Shape(1, 2),), {"k": 1}),
        ((Shape(1, 2),), {"shape": 1}),
        ((1,), {}),
    ]:
        with pytest.raises(TypeError):
            State(*arguments, **keywords)


def test_what_is_no_aggregate_is_refused() -> None:
    with pytest.raises(TypeError, match="inherit from other aggregates"):

        @triton.aggregate
        class FromPlain(dict):
            x: tl.tensor

    with pytest.raises(TypeError, match="is no class"):

        @triton.aggregate
        class WithValue:
            x: tl.int32


@triton.constexpr_function
def _box(kind):
    @triton.aggregate
    class Box:
        value: kind

        @triton.jit
        def create(value):
            return Box(value)

    return Box


_TensorBox = _box(tl.tensor)


@triton.jit
def _box_kernel(out):
    tl.store(out, _TensorBox.create(tl.load(out) + 1).value)


def test_a_class_made_by_a_function() -> None:
    out = np.array([4], np.int32)
    _box_kernel[(1,)](out)
    assert out[0] == 5
