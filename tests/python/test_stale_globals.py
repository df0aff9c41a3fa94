"""A global, an attribute or a helper that changed is never served from the cache."""

import types

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl

settings = types.ModuleType("settings")
settings.SCALE = tl.constexpr(3)
OFFSET = tl.constexpr(1)
ELEMENT = tl.float32


@triton.jit
def helper(x):
    return x * 1


@triton.jit
def inner_helper(x):
    return helper(x) + OFFSET


@triton.jit
def kernel(out_ptr):
    tl.store(out_ptr, (inner_helper(2) * settings.SCALE).to(ELEMENT))


def run():
    out = np.zeros(1, np.float32)
    kernel[(1,)](out)
    return out[0]


@pytest.fixture(autouse=True)
def restore():
    saved = dict(globals())
    scale = settings.SCALE
    yield
    globals().update(saved)
    settings.SCALE = scale


def test_global_number():
    assert run() == 9
    globals()["OFFSET"] = tl.constexpr(10)
    assert run() == 36


def test_attribute_of_a_module():
    assert run() == 9
    settings.SCALE = tl.constexpr(100)
    assert run() == 300


def test_element_type():
    assert run() == 9
    globals()["ELEMENT"] = tl.int1
    assert run() == 1


def test_helper_of_a_helper():
    assert run() == 9

    @triton.jit
    def helper(x):
        return x * 5

    globals()["helper"] = helper
    assert run() == 33


def test_unchanged_is_not_compiled_again():
    out = np.zeros(1, np.float32)
    first = kernel[(1,)](out)
    globals()["OFFSET"] = tl.constexpr(1)  # another object, the same value
    assert kernel[(1,)](out) is first
