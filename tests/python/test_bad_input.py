"""What a wrong call, a wrong kernel or a wrong launch looks like from Python: one clear error, never a dead process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import frontend_files
import trivet as triton
import trivet.language as tl
from trivet import errors

HERE = Path(__file__).name
PYTHON_PATH = str(Path(triton.__file__).parents[1])


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def fill(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, 1.0, mask=offsets < n)


@triton.jit
def fill_at(address):
    tl.store(address.to(tl.pointer_type(tl.float32)), 1.0)


@triton.jit
def load_at(address, y):
    tl.store(y, tl.load(address.to(tl.pointer_type(tl.float32))))


@triton.jit
def nothing(x):
    pass


def arrays(n: int = 16) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.float32), np.zeros(n, dtype=np.float32)


def line_of(text: str) -> int:
    """Number of the first line of this file that holds ``text``."""
    for number, line in enumerate(Path(__file__).read_text().splitlines(), 1):
        if text in line:
            return number
    raise AssertionError(text)


def run_script(tmp_path: Path, body: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs ``body`` in a process of its own, with numpy, triton and tl imported; a crash is its affair."""
    return subprocess.run(
        [sys.executable, str(write_script(tmp_path, body))],
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def write_script(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "script.py"
    head = "import numpy as np\nimport trivet as triton\nimport trivet.language as tl\n\n"
    path.write_text(head + textwrap.dedent(body))
    return path


# --- the call


def test_calling_without_a_grid():
    x, y = arrays()
    with pytest.raises(RuntimeError, match=r"cannot call the @jit function copy\(\) directly.*copy\[grid\]"):
        copy(x, y, 16, BLOCK=16)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("16", "must be a tuple of one to three integers, found str"),
        (None, "must be a tuple of one to three integers, found NoneType"),
        ({}, "must be a tuple of one to three integers, found dict"),
        (1.0, "must be a tuple of one to three integers, found float"),
        ((), "one to three extents, found 0"),
        ((1, 1, 1, 1), "one to three extents, found 4"),
        ((1.5,), r"must be integers, found 1\.5"),
        (("1",), "must be integers, found '1'"),
        ((-1,), "0 to 2147483647, found -1"),
        ((1, 1 << 31), "0 to 2147483647, found 2147483648"),
        ((1 << 70,), "0 to 2147483647"),
        (lambda meta: "no", "must be a tuple of one to three integers, found str"),
        (lambda meta: (1, -2), "found -2"),
    ],
    ids=lambda value: "function" if callable(value) else str(value)[:40],
)
def test_wrong_grid(grid, message):
    x, y = arrays()
    with pytest.raises(errors.LaunchError, match=f"copy: .*grid.*{message}"):
        copy[grid](x, y, 16, BLOCK=16)
    assert not y.any()


@pytest.mark.parametrize(
    "grid", [1, (1,), [1], (1, 1, 1), np.int64(1), (np.int32(1),), tl.constexpr(1), (True,)], ids=repr
)
def test_grids_of_many_kinds(grid):
    x, y = arrays()
    copy[grid](x, y, 16, BLOCK=16)
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("grid", [(0,), (0, 5), (5, 0, 5), 0])
def test_zero_grid_runs_nothing(grid):
    x, y = arrays()
    copy[grid](x, y, 16, BLOCK=16)
    assert not y.any()


def test_grid_function_sees_arguments_and_options():
    x, y = arrays()
    copy[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]) * meta["num_warps"],)](x, y, 16, BLOCK=8, num_warps=1)
    np.testing.assert_array_equal(x, y)


def test_exception_of_the_grid_function_comes_through():
    x, y = arrays()
    with pytest.raises(KeyError, match="M"):
        copy[lambda meta: (meta["M"],)](x, y, 16, BLOCK=16)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, r"missing 4 argument\(s\): x, y, n, BLOCK"),
        ((1, 2), {"BLOCK": 16}, r"missing 1 argument\(s\): n"),
        ((1, 2, 3, 4, 5), {}, "takes 4 arguments, found 5"),
        ((1, 2, 3, 4), {"BLOCK": 16}, "multiple values for argument 'BLOCK'"),
        ((1, 2, 3), {"BLOK": 16}, "unexpected keyword argument 'BLOK'; its parameters are x, y, n, BLOCK"),
        ((1, 2, 3), {"BLOCK": 16, "num_wraps": 4}, "unexpected keyword argument 'num_wraps'"),
    ],
)
def test_wrong_arguments(args, kwargs, message):
    with pytest.raises(errors.LaunchError, match=message):
        copy[(1,)](*args, **kwargs)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "can't take a builtins.dict"),
        (object(), "can't take a builtins.object"),
        (1j, "can't take a builtins.complex"),
        (b"bytes", "can't take a builtins.bytes"),
        (1 << 64, "18446744073709551616 does not fit into 64 bits"),
        (-(1 << 63) - 1, "does not fit into 64 bits"),
        (np.zeros(4, dtype=complex), "can't take a tensor of complex128"),
        (np.zeros(4, dtype=object), "can't take a tensor of object"),
        (np.zeros(4, dtype=[("a", int)]), "can't take a tensor of"),
        (np.zeros(4, dtype="M8[s]"), "can't take a tensor of datetime64"),
        (np.zeros(4, dtype=">f4"), "can't take a tensor of >f4"),
        (np.zeros(4, dtype="U3"), "can't take a tensor of <U3"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:20],
)
def test_unsupported_argument(value, message):
    with pytest.raises(errors.LaunchError, match=f"argument 'x'.*{message}"):
        nothing[(1,)](value)
    assert issubclass(errors.LaunchError, TypeError)


def test_array_with_bytes_between_its_elements():
    pairs = np.zeros(4, dtype=[("a", np.float32), ("b", np.uint8)])
    with pytest.raises(errors.LaunchError, match="strides are not multiples of its 4-byte elements"):
        nothing[(1,)](pairs["a"])


def test_list_where_a_tensor_is_meant():
    with pytest.raises(errors.CompileError, match=r"\(f32, f32, f32, f32, f32, f32, \.\.\. 50 in all\)"):
        copy[(1,)]([1.0] * 50, arrays()[1], 16, BLOCK=16)


@pytest.mark.parametrize("value", [None, "text", tl.float32, 3.5])
def test_number_or_nothing_where_a_tensor_is_meant(value):
    with pytest.raises(errors.CompileError, match=rf"{HERE}:{line_of('tl.store(y + offsets')}:"):
        copy[(1,)](arrays()[0], value, 16, BLOCK=16)


@pytest.mark.parametrize("block", [0, -16, 1 << 30, 1 << 70, 16.0, None, "16", [16], {}, arrays()[0]], ids=repr)
def test_wrong_compile_time_value(block):
    x, y = arrays()
    with pytest.raises(errors.CompileError, match="arange"):
        copy[(1,)](x, y, 16, BLOCK=block)


@pytest.mark.parametrize("block", [16, np.int64(16), np.uint8(16), tl.constexpr(16)], ids=repr)
def test_compile_time_numbers_of_many_kinds(block):
    x, y = arrays()
    copy[(1,)](x, y, 16, BLOCK=block)
    np.testing.assert_array_equal(x, y)


def test_annotated_scalar_out_of_range():
    @triton.jit
    def kernel(x, n: tl.int8):
        tl.store(x, n)

    x = np.zeros(1, dtype=np.int32)
    kernel[(1,)](x, -128)
    assert x[0] == -128
    with pytest.raises(errors.LaunchError, match=r"argument 'n': 128 does not fit into int8 \(-128 to 127\)"):
        kernel[(1,)](x, 128)


# --- the function


def test_jit_of_something_else():
    for wrong in (3, int, "text", len):
        with pytest.raises(TypeError, match="expects a Python function"):
            triton.jit(wrong)


def test_operation_called_from_python():
    with pytest.raises(RuntimeError, match="tl.load was called from Python"):
        tl.load(3)


def test_source_not_available():
    namespace = {"triton": triton, "tl": tl}
    exec("@triton.jit\ndef hidden(x):\n    tl.store(x, 1.0)\n", namespace)
    with pytest.raises(
        errors.UnsupportedSourceError, match=r"the source of hidden\(\) can't be read.*defined in a file"
    ):
        namespace["hidden"][(1,)](arrays()[0])
    assert issubclass(errors.UnsupportedSourceError, OSError)


def test_source_of_a_helper_not_available():
    namespace = {"triton": triton}
    exec("@triton.jit\ndef hidden_helper(v):\n    return v\n", namespace)
    hidden_helper = namespace["hidden_helper"]

    @triton.jit
    def kernel(x):
        tl.store(x, hidden_helper(1.0))

    with pytest.raises(errors.CompileError, match=r"the source of hidden_helper\(\) can't be read"):
        kernel[(1,)](arrays()[0])


def test_prompt(tmp_path):
    """As typed into a prompt: read from standard input."""
    source = "import trivet as triton\n@triton.jit\ndef k(x):\n  pass\n\nk[(1,)](1)\n"
    done = subprocess.run([sys.executable, "-"], input=source, env={**os.environ, "PYTHONPATH": PYTHON_PATH},
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 1
    assert "UnsupportedSourceError: the source of k() can't be read" in done.stderr


def test_source_with_text_left_of_its_indentation(tmp_path):
    """A comment or a string inside a function that is itself indented may start anywhere."""
    lines = [
        "def make():",
        "    @triton.jit",
        "    def kernel(x):",
        '        """A string that goes on',
        'at the left margin."""',
        "# a comment at the left margin",
        "        tl.store(x, 1.0)",
        "        tl.store(x, oops)",
        "    return kernel",
        "",
        "try:",
        "    make()[(1,)](np.zeros(1, dtype=np.float32))",
        "except triton.errors.CompileError as error:",
        "    print(error)",
    ]
    done = run_script(tmp_path, "\n".join(lines))
    assert done.returncode == 0, done.stderr
    assert "script.py:12:21: error: 'oops' is not defined\n   12 |         tl.store(x, oops)" in done.stdout


def test_functions_that_are_no_kernels():
    anonymous = triton.jit(lambda x: x)

    @triton.jit
    async def patient(x):
        pass

    for function in (anonymous, patient):
        with pytest.raises(errors.UnsupportedSourceError, match="expects a function made by 'def'"):
            function[(1,)](1)


def plain(value):
    return value + 1


def test_callee_without_jit():
    @triton.jit
    def kernel(x):
        tl.store(x, plain(1))

    with pytest.raises(errors.CompileError, match=r"cannot call the Python function plain\(\).*not a @jit function"):
        kernel[(1,)](arrays()[0])


@triton.jit
def forever(n):
    return forever(n + 1)


@triton.jit
def forever_constexpr(n: tl.constexpr):
    return forever_constexpr(n + 1)


def test_recursion():
    @triton.jit
    def kernel(n):
        forever(n)

    @triton.jit
    def kernel_constexpr():
        forever_constexpr(0)

    with pytest.raises(errors.CompileError, match=r"recursion: forever\(\) calls itself"):
        kernel[(1,)](1)
    with pytest.raises(errors.CompileError, match=r"recursion: forever_constexpr\(\) calls itself"):
        kernel_constexpr[(1,)]()


def test_nesting_has_an_end(tmp_path):
    chain = "".join(f"    elif n == {i}:\n        a = {i}\n" for i in range(1, 150))
    head = "import trivet as triton\n\n\n@triton.jit\ndef kernel(n):\n    if n == 0:\n        a = 0\n"
    path = tmp_path / "long_chain.py"
    path.write_text(head + chain)
    with pytest.raises(errors.CompileError, match="'if' is nested more than 100 deep") as caught:
        frontend_files.load(path).kernel[(1,)](5)
    assert len(caught.value.diagnostics) == 1


def test_compile_error_has_its_parts():
    @triton.jit
    def kernel(x):
        tl.store(x, undefined)  # noqa: F821
        tl.load(3)

    with pytest.raises(errors.CompileError) as caught:
        kernel[(1,)](arrays()[0])
    assert isinstance(caught.value, errors.TrivetError)
    assert [d[2:4] for d in caught.value.diagnostics] == [
        (21, "'undefined' is not defined"),
        (9, "tl.load: expected a pointer or a tile of pointers, found constant 3"),
    ]
    file, line, *_ = caught.value.diagnostics[0]
    assert file == __file__
    assert line == line_of("tl.store(x, undefined)  # noqa")


def test_a_failed_kernel_can_be_called_again():
    @triton.jit
    def kernel(x, N: tl.constexpr):
        tl.static_assert(N > 2, "too small")
        tl.store(x, N)

    x = np.zeros(1, dtype=np.int32)
    for _ in range(2):
        with pytest.raises(errors.CompileError, match="too small"):
            kernel[(1,)](x, 1)
    kernel[(1,)](x, 3)
    assert x[0] == 3


# --- memory


def check_place(error: pytest.ExceptionInfo, text: str, kernel: str, program: tuple = (0, 0, 0)) -> None:
    """The message names file, line, kernel and program."""
    message = str(error.value)
    assert f"{HERE}:{line_of(text)}:" in message
    assert f"@{kernel}" in message
    assert f"program {program}" in message


@pytest.mark.parametrize("schedule", ["threads", "in_order", "random", "round_robin"])
def test_out_of_bounds_load(monkeypatch, schedule):
    monkeypatch.setenv("TRIVET_SCHEDULE", schedule)
    x, y = arrays(16)[0], arrays(32)[1]
    with pytest.raises(
        errors.OutOfBoundsError, match=r"load is out of bounds: x\[16\] is outside shape \[16\]"
    ) as caught:
        copy[(1,)](x, y, 32, BLOCK=32)
    check_place(caught, "tl.store(y + offsets, tl.load", "copy")
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, errors.KernelError)


def test_out_of_bounds_store_names_the_program(monkeypatch):
    monkeypatch.setenv("TRIVET_SCHEDULE", "in_order")
    x = np.zeros((4, 8), dtype=np.float32)
    with pytest.raises(
        errors.OutOfBoundsError, match=r"store is out of bounds: x\[4, 0\] is outside shape \[4, 8\]"
    ) as caught:
        fill[(5,)](x, 40, BLOCK=8)
    check_place(caught, "tl.store(x + offsets, 1.0", "fill", (4, 0, 0))
    assert x.all(), "programs before the mistake have run"


def test_far_out_of_bounds():
    x = np.zeros(4, dtype=np.float32)

    @triton.jit
    def kernel(x, offset):
        tl.store(x + offset, 1.0)

    for offset in (1 << 40, -(1 << 40), (1 << 61) - 1, -1):
        with pytest.raises(errors.OutOfBoundsError, match="store is out of bounds"):
            kernel[(1,)](x, offset)
    assert not x.any()


def test_null_and_wild_pointers(tmp_path):
    body = """
    from trivet import errors

    @triton.jit
    def fill_at(address):
        tl.store(address.to(tl.pointer_type(tl.float32)), 1.0)

    @triton.jit
    def load_at(address, y):
        tl.store(y, tl.load(address.to(tl.pointer_type(tl.float32))))

    y = np.zeros(1, dtype=np.float32)
    for address in (0, 4, 4096, 0x123456789000, (1 << 47) - 4096, (1 << 63) - 64, (1 << 64) - 4, -4):
        for launch in (lambda: fill_at[(1,)](address), lambda: load_at[(1,)](address, y)):
            try:
                launch()
            except errors.OutOfBoundsError as error:
                print("null" if "null pointer" in str(error) else "wild", "script.py:" in str(error))
    """
    done = run_script(tmp_path, body)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 16
    assert set(lines) == {"null True", "wild True"}
    assert lines[:2] == ["null True", "null True"]


def test_read_only_array():
    x, y = arrays()
    y.flags.writeable = False
    with pytest.raises(errors.KernelError, match=r"store to read-only memory: y\[0\]") as caught:
        copy[(1,)](x, y, 16, BLOCK=16)
    check_place(caught, "tl.store(y + offsets, tl.load", "copy")
    assert not y.any()
    x.flags.writeable = False
    copy[(1,)](x, np.zeros(16, dtype=np.float32), 16, BLOCK=16)


def test_misaligned_access_does_not_crash(tmp_path):
    body = """
    @triton.jit
    def kernel(x, y):
        pointer = (x.to(tl.int64) + 1).to(tl.pointer_type(tl.float32))
        tl.atomic_add(pointer, 1.0)

    try:
        kernel[(1,)](np.zeros(4, dtype=np.float32), 0)
    except triton.errors.KernelError as error:
        print(error)
    """
    done = run_script(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert "misaligned" in done.stdout or done.stdout == ""


def test_an_error_leaves_other_memory_alone():
    storage = np.zeros(64, dtype=np.float32)
    middle = storage[16:32]
    x = np.zeros(4, dtype=np.float32)

    @triton.jit
    def kernel(x, y):
        tl.store(y + tl.arange(0, 16), 1.0)
        tl.store(x + tl.arange(0, 16), 1.0)
        tl.store(y + tl.arange(0, 16), 2.0)

    with pytest.raises(errors.OutOfBoundsError):
        kernel[(1,)](x, middle)
    np.testing.assert_array_equal(middle, 1.0)
    assert not storage[:16].any() and not storage[32:].any()


def test_empty_array():
    with pytest.raises(errors.OutOfBoundsError):
        fill[(1,)](np.zeros(0, dtype=np.float32), 1, BLOCK=1)
    fill[(1,)](np.zeros(0, dtype=np.float32), 0, BLOCK=1)


# --- running


def test_device_assert():
    @triton.jit
    def kernel(x):
        tl.device_assert(tl.load(x) > 5, "x must be more than 5")

    with pytest.raises(errors.KernelAssertionError, match="assertion failed: x must be more than 5") as caught:
        kernel[(1,)](arrays()[0])
    check_place(caught, "tl.device_assert(tl.load(x) > 5", "kernel")
    assert isinstance(caught.value, AssertionError)


def test_loop_step_of_zero():
    @triton.jit
    def kernel(x, step):
        for i in range(0, 8, step):
            tl.store(x + i, 1.0)

    with pytest.raises(errors.KernelError, match="step of the loop is 0"):
        kernel[(1,)](arrays()[0], 0)


@triton.jit
def take_lock(lock):
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass


@pytest.mark.parametrize("schedule", ["threads", "in_order", "random", "round_robin"])
@pytest.mark.parametrize("programs", [1, 3])
def test_deadlock(monkeypatch, schedule, programs):
    monkeypatch.setenv("TRIVET_SCHEDULE", schedule)
    lock = np.ones(1, dtype=np.int32)
    with pytest.raises(errors.DeadlockError, match="deadlock in @take_lock") as caught:
        take_lock[(programs,)](lock)
    message = str(caught.value)
    for program in range(programs):
        assert f"program ({program}, 0, 0) at" in message
    assert f"{HERE}:{line_of('while tl.atomic_cas(lock')}" in message


@triton.jit
def endless(x, i):
    while i > 0:
        i += 1
    tl.store(x, i)


def test_step_limit(monkeypatch):
    monkeypatch.setenv("TRIVET_MAX_STEPS", "10000")
    with pytest.raises(errors.KernelError, match="10000") as caught:
        endless[(1,)](np.zeros(1, dtype=np.int32), 1 << 40)
    assert "@endless" in str(caught.value)
    monkeypatch.setenv("TRIVET_MAX_STEPS", "many")
    with pytest.raises(ValueError, match="TRIVET_MAX_STEPS must be an integer that is not negative, found 'many'"):
        nothing[(1,)](1)


def test_unknown_schedule(monkeypatch):
    monkeypatch.setenv("TRIVET_SCHEDULE", "chaos")
    with pytest.raises(
        ValueError, match="TRIVET_SCHEDULE must be threads, in_order, random or round_robin, found 'chaos'"
    ):
        nothing[(1,)](1)


@pytest.mark.parametrize("schedule", ["threads", "in_order"])
def test_control_c_stops_an_endless_kernel(tmp_path, schedule):
    body = """
    import signal

    @triton.jit
    def endless(x, i):
        while i > 0:
            i += 1
        tl.store(x, i)

    # What runs in the background is started with the signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    x = np.zeros(1, dtype=np.int32)
    print("started", flush=True)
    try:
        endless[(4,)](x, 1 << 40)
    except KeyboardInterrupt:
        print("interrupted", x[0], flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, str(write_script(tmp_path, body))],
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "TRIVET_SCHEDULE": schedule},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "started\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert output == "interrupted 0\n"
    assert process.returncode == 0


def test_control_c_while_compiling():
    """It arrives while the compiler asks Python for the value of a global."""

    @triton.jit
    def kernel(x):
        tl.store(x, 1.0)

    original = type(kernel)._look_up
    calls = []

    def look_up(self, name):
        calls.append(name)
        raise KeyboardInterrupt

    type(kernel)._look_up = look_up
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel[(1,)](arrays()[0])
    finally:
        type(kernel)._look_up = original
    assert calls == ["tl"]
    kernel[(1,)](arrays()[0])


def test_printing(capsys):
    @triton.jit
    def kernel(x):
        tl.device_print("value:", tl.load(x + tl.program_id(0)))
        print("plain", tl.program_id(0))

    kernel[(3,)](np.array([10, 20, 30], dtype=np.int32))
    output = capsys.readouterr().out
    assert sorted(re.findall(r"value:.*?(10|20|30)$", output, re.MULTILINE)) == ["10", "20", "30"]
    assert output.count("plain") == 3


def test_printing_to_something_that_fails(tmp_path):
    body = """
    import sys

    @triton.jit
    def kernel(x):
        tl.device_print("value", x)

    class Broken:
        def write(self, text):
            raise OSError("no space left")
        def flush(self):
            pass

    sys.stdout = Broken()
    kernel[(8,)](1)
    sys.stdout = sys.__stdout__
    print("alive")
    """
    done = run_script(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "alive\n"
    assert "no space left" in done.stderr


def test_threads_that_launch_at_once():
    """Each thread compiles and launches kernels of its own and one that all share."""
    failures = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for round_number in range(5):
                n = int(rng.integers(1, 2000))
                x = rng.standard_normal(n).astype(np.float32)
                y = np.zeros_like(x)
                block = 1 << ((seed + round_number) % 6 + 3)
                copy[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
                np.testing.assert_array_equal(x, y)
                with pytest.raises(errors.OutOfBoundsError):
                    fill[(1,)](y, 1 << 20, BLOCK=1 << 12)
        except BaseException as error:  # reported below, from the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


@pytest.mark.parametrize(
    "write",
    [
        "tl.store(x + tl.arange(0, 8) * 1000003, 1.0)",
        "tl.atomic_add(x + tl.arange(0, 8) * 1000003, 1.0)",
        "tl.load(x - 1)",
        "tl.store(tl.make_block_ptr(x, (64,), (1,), (60,), (8,), (0,)), tl.zeros([8], tl.float32))",
        "tl.load(tl.make_block_ptr(x, (1 << 40,), (1 << 20,), (1 << 30,), (8,), (0,)), boundary_check=(0,))",
    ],
)
def test_every_access_is_checked(tmp_path, write):
    body = f"""
    @triton.jit
    def kernel(x):
        {write}

    try:
        kernel[(1,)](np.zeros(16, dtype=np.float32))
    except triton.errors.OutOfBoundsError as error:
        print("found")
    """
    done = run_script(tmp_path, body)
    assert (done.returncode, done.stdout) == (0, "found\n"), done.stderr


def test_text_that_is_not_utf8(capsys: pytest.CaptureFixture[str]) -> None:
    """A lone surrogate has no bytes in UTF-8; it is shown as an escape."""

    @triton.jit
    def kernel():
        tl.device_print("\ud800 x")

    kernel[(1,)]()
    assert "\\ud800 x" in capsys.readouterr().out
