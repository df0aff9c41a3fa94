"""Kernels, types and errors survive pickling and copying, also into processes that start afresh."""

import copy
import pickle
import subprocess
import sys
import textwrap

import pytest

import trivet as triton
import trivet.language as tl
from trivet import errors


@triton.autotune([triton.Config({"N": 4})], key=[])
@triton.heuristics({"M": lambda args: 2})
@triton.jit
def tuned(x, M: tl.constexpr, N: tl.constexpr):
    tl.store(x, M + N)


def _plain(x):
    tl.store(x, 1.0)


renamed = triton.jit(_plain)


@triton.constexpr_function
def twice(n):
    return 2 * n


class Methods:
    @triton.jit
    def store(x):
        tl.store(x, 1.0)


BY_NAME = [tuned, tuned.fn, tuned.fn.fn, renamed, twice, Methods.store, tl.sum, tl.cdiv]


@pytest.mark.parametrize("value", BY_NAME, ids=repr)
def test_what_a_module_holds_stays_itself(value):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) is value
    assert copy.copy(value) is value
    assert copy.deepcopy({"kernel": value})["kernel"] is value


def test_a_kernel_inside_a_function_is_refused_by_name():
    @triton.jit
    def local(x):
        pass

    with pytest.raises(pickle.PicklingError, match=r"can't pickle JITFunction .*<locals>.local: it is defined inside"):
        pickle.dumps(local)
    assert copy.deepcopy(local) is local


def test_a_name_that_means_something_else_is_refused():
    def other():
        pass

    other.__qualname__, other.__module__ = "_plain", __name__
    with pytest.raises(
        pickle.PicklingError, match=r"can't pickle JITFunction .*_plain: it is not what this name stands for"
    ):
        pickle.dumps(triton.jit(other))


@pytest.mark.parametrize(
    "value",
    [
        tl.float32, tl.float8e4nv, tl.int1, tl.void, tl.pointer_type(tl.float16), tl.block_type(tl.float32, [4, 8]),
        tl.constexpr(3), tl.constexpr("text"), tl.constexpr(None), tl.constexpr(tl.int8), tl.constexpr((1, 2.5)),
        triton.Config({"N": 4}, num_warps=8),
    ],
    ids=repr,
)  # fmt: skip
def test_values_stay_equal(value):
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert type(made) is type(value)
        assert bool(made == value)
        assert repr(made) == repr(value)


def test_operations_keep_their_name():
    assert repr(pickle.loads(pickle.dumps(tl.load))) == repr(tl.load)


@pytest.mark.parametrize(
    "error",
    [
        errors.CompileError([("kernel.py", 3, 5, "no", "kernel.py:3:5: no")], "kernel"),
        errors.CompileTimeAssertionFailure([("kernel.py", 3, 5, "no", "kernel.py:3:5: no")], "kernel"),
        errors.LaunchError("wrong"), errors.OutOfBoundsError("far"), errors.KernelAssertionError("no"),
        errors.TierRefusal("not here", "dot", "kernel.py:3"), triton.OutOfResources(2, 1, "shared memory"),
    ],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_errors_keep_type_and_facts(error):
    made = pickle.loads(pickle.dumps(error))
    assert type(made) is type(error)
    assert str(made) == str(error)
    assert vars(made) == vars(error)


_WORKERS = """\
    import multiprocessing

    import numpy as np
    import triton
    import triton.language as tl

    SCALE = tl.constexpr(3)

    @triton.autotune([triton.Config({"N": 4})], key=[])
    @triton.jit
    def scaled(x, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, SCALE * i)

    @triton.jit
    def broken(x):
        tl.store(x, unknown)

    def work(kernel):
        x = np.zeros(4, np.int32)
        kernel[(1,)](x)
        return triton.__version__, x.tolist()

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            version, values = pool.map(work, [scaled])[0]
            print("trivet" in version, values)
            try:
                pool.map(work, [broken])
            except triton.CompilationError as error:
                print("NameError" not in str(error), error.error_message)
"""


def test_spawned_processes_get_the_kernels(tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(textwrap.dedent(_WORKERS))
    done = subprocess.run(
        [sys.executable, "-m", "trivet", "run", str(script)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "True [0, 3, 6, 9]"
    assert lines[1].startswith("True ") and "unknown" in lines[1]
