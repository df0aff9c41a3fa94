"""Mistakes around @jit, and compile-time Python that misbehaves: a message that says what to do, never a crash."""

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from generated_kernels import kernel_from


def body(out_ptr, B: tl.constexpr):
    tl.store(out_ptr, B)


@pytest.mark.parametrize(
    "decorator",
    [triton.autotune([triton.Config({"B": 16})], key=[]), triton.heuristics({"B": lambda arguments: 16})],
    ids=["autotune", "heuristics"],
)
def test_jit_above_other_decorators(decorator):
    with pytest.raises(TypeError, match="write @jit last, next to the function"):
        triton.jit(decorator(triton.jit(body)))


def test_keyword_dictionaries():
    def with_keywords(out_ptr, **options):
        tl.store(out_ptr, 1)

    with pytest.raises(TypeError, match=r"can't take \*\*options: name each parameter"):
        triton.jit(with_keywords)


@triton.constexpr_function
def endless(n):
    return endless(n + 1)


@triton.jit
def calls_endless(out_ptr):
    tl.store(out_ptr, endless(0))


class Mirror:
    """An object whose attributes, comparison and text all need themselves."""

    def __getattr__(self, name):
        return getattr(self, name)

    def __eq__(self, other):
        return self == other

    def __repr__(self):
        return repr(self)

    __hash__ = object.__hash__


@triton.jit
def looks_into(out_ptr, M: tl.constexpr):
    tl.store(out_ptr, M.x)


@triton.jit
def compares(out_ptr, M: tl.constexpr):
    tl.static_assert(M == 1)


@triton.jit
def prints(out_ptr, M: tl.constexpr):
    tl.static_print(M)


@pytest.mark.parametrize("kernel", [looks_into, compares])
def test_objects_that_recurse(kernel):
    with pytest.raises((triton.errors.CompileError, RecursionError)):
        kernel[(1,)](np.zeros(1, np.int32), M=Mirror())


def test_text_that_recurses(capsys):
    prints[(1,)](np.zeros(1, np.int32), M=Mirror())
    assert "'Mirror'" in capsys.readouterr().out


def test_a_compile_time_function_that_recurses_for_ever():
    with pytest.raises((triton.errors.CompileError, RecursionError), match="recursion"):
        calls_endless[(1,)](np.zeros(1, np.int32))


def test_more_errors_than_are_shown():
    source = "def kernel(p):\n" + "".join(f"    a{i} = missing{i}\n" for i in range(27))
    with pytest.raises(triton.errors.CompileError) as error:
        kernel_from(source, "kernel")[(1,)](np.zeros(1, np.int32))
    assert str(error.value).count("error:") == 20
    assert str(error.value).rstrip().endswith("... and 7 more errors")
