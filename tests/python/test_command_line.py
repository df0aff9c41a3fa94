"""The command `trivet`: what it says to wrong input, one line that names it, and its exit codes."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

KERNELS = """\
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

@triton.jit
def bad(x):
    tl.store(x, nothing)

@triton.jit
def spin(x):
    while tl.atomic_add(x, 2) >= 0:
        tl.atomic_add(x, -1)

@triton.jit
def narrow(x, y):
    tl.store(y, tl.load(x).to(tl.float32))
"""


def _environment():
    package = str(pathlib.Path(__import__("trivet").__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}


def _trivet(folder, *words):
    done = subprocess.run([sys.executable, "-m", "trivet", *words], cwd=folder, env=_environment(), capture_output=True, text=True, timeout=60)  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    (path / "kernels.py").write_text(KERNELS)
    (path / "syntax.py").write_text("def f(:")
    (path / "raises.py").write_text("import triton\ndef f():\n    1 / 0\nf()\n")
    (path / "exits.py").write_text("raise SystemExit(3)")
    (path / "folder").mkdir()
    np.save(path / "f32.npy", np.arange(8, dtype=np.float32))
    np.save(path / "i32.npy", np.ones(8, np.int32))
    np.save(path / "u16.npy", np.full(1, 0x4049, np.uint16))
    np.save(path / "f64.npy", np.ones(8))
    np.save(path / "objects.npy", np.array([{}], dtype=object))
    np.save(path / "swapped.npy", np.ones(8, ">f4"))
    (path / "cut.npy").write_bytes((path / "f32.npy").read_bytes()[:130])
    (path / "text.npy").write_text("hello")
    (path / "garbage.tvt").write_text("garbage")
    for name, signature in (("add", "*fp32, *fp32, i32, 8"), ("spin", "*i32"), ("narrow", "*bf16, *fp32")):
        code, _, err = _trivet(path, "compile", f"kernels.py:{name}", "--signature", signature)
        assert code == 0, err
    (path / "cut.tvbc").write_bytes((path / "add.tvbc").read_bytes()[:50])
    return path


@pytest.mark.parametrize(
    "kernel, signature, message",
    [
        ("absent.py:add", "*fp32", "no such file: absent.py"),
        ("kernels.py", "*fp32", "expected FILE.py:KERNEL, found 'kernels.py'"),
        ("kernels.py:zzz", "*fp32", "kernels.py has no @jit function 'zzz'; it has add, bad, spin, narrow"),
        ("folder:add", "*fp32", "folder can't be imported: IsADirectoryError"),
        ("syntax.py:add", "*fp32", "syntax.py can't be imported: SyntaxError: invalid syntax"),
        ("raises.py:add", "*fp32", "raises.py can't be imported: ZeroDivisionError: division by zero"),
        ("exits.py:add", "*fp32", "exits.py can't be imported: SystemExit: 3"),
        ("kernels.py:add", "*fp33, *fp32, i32, 8", "unknown type 'fp33'; there are"),
        ("kernels.py:add", "*fp32, *fp32, i32, 8, 9", "add() takes 4 arguments, found 5"),
        ("kernels.py:add", "", "add() is missing 4 argument(s): x, y, n, N"),
        ("kernels.py:add", "*fp32, *fp32, i32, M=8", "add() got an unexpected keyword argument 'M'; its parameters are x, y, n, N"),
        ("kernels.py:add", "*fp32, *fp32, 8, *fp32", "parameter 'N' is tl.constexpr and takes a value, found the type pointer<fp32>"),
        ("kernels.py:add", "*fp32, *fp32, i32, 'x", "unknown type \"'x\""),
        ("kernels.py:bad", "*fp32", "kernels.py:11:17: error: 'nothing' is not defined"),
    ],
)  # fmt: skip
def test_compile_says_what_is_wrong(folder, kernel, signature, message):
    code, out, err = _trivet(folder, "compile", kernel, "--signature", signature)
    assert code == 1 and out == "" and message in err
    assert f"trivet compile: {'' if 'kernels.py:11' in message or 'imported' in message else message[:20]}" in err
    assert "cli.py" not in err and "importlib" not in err


def test_compile_refuses_a_place_and_options(folder):
    add = ("compile", "kernels.py:add", "--signature", "*fp32, *fp32, i32, 8")
    assert _trivet(folder, *add, "-o", "absent/x.tvbc") == (
        1,
        "",
        "trivet compile: absent/x.tvbc: there is no folder absent\n",
    )
    code, _, err = _trivet(folder, *add, "--num-warps", "3")
    assert code == 2 and "argument --num-warps: expected a power of 2, found 3" in err


GOOD = ("--arg", "f32.npy", "--arg", "zeros:fp32:8", "--arg", "8")


def test_run_and_save(folder):
    assert _trivet(folder, "run", "add.tvbc", *GOOD, "--save", "y=sum.npy", "--save", "0=x.npy") == (0, "", "")
    assert np.load(folder / "sum.npy").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert np.load(folder / "x.npy").tolist() == list(range(8))
    assert _trivet(folder, "dis", "add.tvbc", "-o", "add.tvt")[0] == 0
    assert _trivet(folder, "run", "add.tvt", *GOOD) == (0, "", "")


def test_bits_stand_for_types_that_numpy_lacks(folder):
    assert _trivet(folder, "run", "narrow.tvbc", "--arg", "u16.npy", "--arg", "zeros:fp32:1", "--save", "y=y.npy") == (
        0,
        "",
        "",
    )
    assert np.load(folder / "y.npy").tolist() == [3.140625]


@pytest.mark.parametrize(
    "x, n, message",
    [
        ("i32.npy", "8", "--arg i32.npy for parameter 'x' (ptr<f32>): the tensor has int32 elements"),
        ("f64.npy", "8", "--arg f64.npy for parameter 'x' (ptr<f32>): the tensor has fp64 elements"),
        ("u16.npy", "8", "--arg u16.npy for parameter 'x' (ptr<f32>): the tensor has uint16 elements"),
        ("objects.npy", "8", "--arg objects.npy for parameter 'x' (ptr<f32>): "),
        ("swapped.npy", "8", "--arg swapped.npy for parameter 'x' (ptr<f32>): argument 'x': a kernel can't take a tensor of >f4"),
        ("cut.npy", "8", "--arg cut.npy for parameter 'x' (ptr<f32>): "),
        ("text.npy", "8", "--arg text.npy for parameter 'x' (ptr<f32>): "),
        ("absent.npy", "8", "absent.npy: No such file or directory"),
        ("zeros:fp99:8", "8", "--arg zeros:fp99:8 for parameter 'x' (ptr<f32>): unknown type 'fp99'"),
        ("zeros:*fp32:8", "8", "--arg zeros:*fp32:8 for parameter 'x' (ptr<f32>): there are no tensors of *fp32"),
        ("zeros:fp32", "8", "--arg zeros:fp32 for parameter 'x' (ptr<f32>): expected zeros:TYPE:EXTENTS, such as zeros:fp32:64x128"),
        ("ones:fp32:axb", "8", "--arg ones:fp32:axb for parameter 'x' (ptr<f32>): expected ones:TYPE:EXTENTS"),
        ("zeros:fp32:-3", "8", "--arg zeros:fp32:-3 for parameter 'x' (ptr<f32>): expected zeros:TYPE:EXTENTS"),
        ("zeros:fp32:99999999999999", "8", "--arg zeros:fp32:99999999999999 for parameter 'x' (ptr<f32>): Unable to allocate"),
        ("3", "8", "--arg 3 for parameter 'x' (ptr<f32>): it takes a tensor"),
        ("f32.npy", "f32.npy", "--arg f32.npy for parameter 'n' (i32): it takes a number"),
        ("f32.npy", "some", "--arg some for parameter 'n' (i32): expected an integer"),
        ("f32.npy", "1.5", "--arg 1.5 for parameter 'n' (i32): expected an integer"),
        ("f32.npy", "99999999999", "--arg 99999999999 for parameter 'n' (i32): argument 'n': 99999999999 does not fit into int32"),
    ],
)  # fmt: skip
def test_run_says_which_argument_is_wrong(folder, x, n, message):
    code, out, err = _trivet(folder, "run", "add.tvbc", "--arg", x, "--arg", "zeros:fp32:8", "--arg", n)
    assert (code, out) == (1, "") and err.startswith(f"trivet run: {message}") and err.count("\n") == 1


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["absent.tvbc"], 1, "trivet run: absent.tvbc: No such file or directory"),
        (["cut.tvbc", *GOOD], 1, "trivet run: cut.tvbc: byte 0x32: truncated: the header says"),
        (["garbage.tvt", *GOOD], 1, "trivet run: garbage.tvt:1:1: error: expected 'kernel' or 'func', found 'garbage'"),
        (["add.tvbc", "--arg", "f32.npy"], 1, "trivet run: add.tvbc takes 3 --arg: x: ptr<f32>, y: ptr<f32>, n: i32; found 1"),
        (["add.tvbc", *GOOD, "--grid", "a"], 1, "--grid must be one to three integers separated by commas, found 'a'"),
        (["add.tvbc", *GOOD, "--grid", "1,2,3,4"], 1, "--grid must be one to three integers that are not negative, found '1,2,3,4'"),
        (["add.tvbc", *GOOD, "--grid=-1"], 1, "--grid must be one to three integers that are not negative, found '-1'"),
        (["add.tvbc", *GOOD, "--grid", "99999999999"], 1, "has an extent outside 0 to 2147483647"),
        (["add.tvbc", *GOOD, "--save", "z=out.npy"], 1, "--save z=out.npy: expected PARAMETER=FILE.npy with a tensor parameter"),
        (["add.tvbc", *GOOD, "--save", "y"], 1, "--save y: expected PARAMETER=FILE.npy with a tensor parameter"),
        (["add.tvbc", *GOOD, "--save", "y=absent/out.npy"], 1, "trivet run: absent/out.npy: No such file or directory"),
        (["add.tvbc", *GOOD, "--threads=-1"], 2, "argument --threads: expected an integer that is not negative, found '-1'"),
        (["add.tvbc", *GOOD, "--max-steps", "x"], 2, "argument --max-steps: expected an integer that is not negative, found 'x'"),
        (["add.tvbc", *GOOD, "--seed=-1"], 2, "argument --seed: expected an integer that is not negative, found '-1'"),
        (["-m"], 2, "the following arguments are required: X.tvbc"),
        ([], 2, "the following arguments are required: X.tvbc"),
    ],
    ids=str,
)  # fmt: skip
def test_run_says_what_is_wrong(folder, words, code, message):
    found, out, err = _trivet(folder, "run", *words)
    assert (found, out) == (code, "") and message in err and "Traceback" not in err


def test_commands(folder):
    assert _trivet(folder)[0] == 2
    code, _, err = _trivet(folder, "frobnicate")
    assert code == 2 and "invalid choice: 'frobnicate'" in err
    code, out, err = _trivet(folder, "verify", "add.tvbc", "cut.tvbc", "absent")
    assert code == 1 and out == "add.tvbc: ok, kernel add\n" and err.count("trivet verify: ") == 2


def test_output_that_nobody_reads(folder):
    process = subprocess.Popen([sys.executable, "-m", "trivet", "dis", "add.tvbc"], cwd=folder, env=_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(timeout=30) == 1


def _heed_interrupts():
    """Programs started in the background ignore Ctrl-C, and so do those that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupting_a_kernel_from_a_file(folder):
    process = subprocess.Popen([sys.executable, "-m", "trivet", "run", "spin.tvbc", "--arg", "zeros:i32:1"], cwd=folder,
                               env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=_heed_interrupts)  # fmt: skip
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "trivet run: interrupted\n")
