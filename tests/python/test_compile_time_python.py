"""Python at compile time: functions of ``math``, results that must be used, failed static assertions."""

import math

import pytest
import torch

import trivet as triton
import trivet.language as tl


@triton.must_use_result("It has no side effects.")
@triton.jit
def _twice(x):
    return x * 2


@triton.must_use_result
@triton.constexpr_function
def _seven():
    return 7


def test_math_of_constants_is_computed_by_python():
    @triton.jit
    def kernel(out, N: tl.constexpr):
        factor: tl.constexpr = math.log2(math.e)
        tl.store(out, factor)
        tl.store(out + 1, math.sqrt(N) + math.gcd(N, 24))

    out = torch.empty(2, dtype=torch.float64)
    kernel[(1,)](out.float(), 16)
    out = torch.empty(2)
    kernel[(1,)](out, 16)
    torch.testing.assert_close(out, torch.tensor([math.log2(math.e), 12.0]))


def test_math_of_run_time_values_is_an_error_with_a_hint():
    @triton.jit
    def kernel(out, n):
        tl.store(out, math.sqrt(n))

    with pytest.raises(triton.CompilationError, match="the language has tl.sqrt"):
        kernel[(1,)](torch.empty(1), 2.0)


def test_a_mistake_in_math_is_the_authors():
    @triton.jit
    def kernel(out, n: tl.constexpr):
        tl.store(out, math.sqrt(n))

    with pytest.raises(triton.CompilationError, match="math domain error"):
        kernel[(1,)](torch.empty(1), -1)


def test_a_result_that_must_be_used():
    @triton.jit
    def good(out):
        y = _twice(tl.load(out))
        tl.store(out, y + _seven())

    @triton.jit
    def bad(out):
        _twice(tl.load(out))
        _seven()

    out = torch.ones(1)
    good[(1,)](out)
    assert out.item() == 9
    with pytest.raises(triton.CompilationError) as caught:
        bad[(1,)](out)
    messages = [d[3] for d in caught.value.diagnostics]
    assert messages == [
        "The result of _twice is not being used. It has no side effects.",
        "The result of _seven is not being used.",
    ]


def test_a_failed_static_assertion_has_its_own_class():
    @triton.jit
    def kernel(n: tl.constexpr):
        tl.static_assert(n == 1, "n is 1")

    kernel[(1,)](1)
    with pytest.raises(triton.CompileTimeAssertionFailure, match="n is 1") as caught:
        kernel[(1,)](2)
    assert caught.value.__cause__ is None
    assert isinstance(caught.value, triton.CompilationError)


def test_a_compile_time_parameter_is_always_specialised():
    @triton.jit(do_not_specialize=["n"])
    def kernel(n: tl.constexpr):
        pass

    with pytest.raises(triton.CompilationError, match="n marked as constexpr and listed in do_not_specialize"):
        kernel[(1,)](5)


def test_parameters_know_what_they_are_not_specialised_for():
    @triton.jit(do_not_specialize=["a", 1], do_not_specialize_on_alignment=["c"])
    def kernel(a, b, c, d):
        pass

    assert [p.do_not_specialize for p in kernel.params] == [True, True, False, False]
    assert [p.do_not_specialize_on_alignment for p in kernel.params] == [False, False, True, False]


def test_a_seed_is_an_integer():
    @triton.jit
    def kernel(out, seed):
        tl.store(out + tl.arange(0, 4), tl.rand(seed, tl.arange(0, 4)))

    out = torch.empty(4)
    kernel[(1,)](out, 2**40)
    for seed in (2.5, torch.zeros(1, dtype=torch.int32)):
        with pytest.raises(triton.CompilationError, match="the seed must be an integer"):
            kernel[(1,)](out, seed)
