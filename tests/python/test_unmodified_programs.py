"""`import triton` answered by Trivet: scripts, modules, test runs, the command line."""

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime.autotuner import Autotuner
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def double(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, libdevice.trunc(tl.load(x_ptr + i) * 2))

x = np.arange(4, dtype=np.float32)
double[(1,)](x, N=4)
print(x.tolist(), sys.argv[1:], triton.__version__.split("+")[0], __name__)
"""


def run(*command, cwd, expect=0, **environment):
    package = str(pathlib.Path(__import__("trivet").__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]), **environment}
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def test_run_a_script(folder):
    shown = run("-m", "trivet", "run", "script.py", "--steps", "3", cwd=folder)
    assert "[0.0, 2.0, 4.0, 6.0] ['--steps', '3'] 3.6.0 __main__" in shown


def test_run_a_module(folder):
    assert "[0.0, 2.0, 4.0, 6.0] ['a'] 3.6.0 __main__" in run("-m", "trivet", "run", "-m", "script", "a", cwd=folder)


def test_a_script_that_fails_fails(folder):
    (folder / "bad.py").write_text("import triton\nraise SystemExit(7)")
    run("-m", "trivet", "run", "bad.py", cwd=folder, expect=7)
    run("-m", "trivet", "run", "absent.py", cwd=folder, expect=1)


def test_an_installed_triton_is_not_taken(folder):
    """A package `triton` in the path stays unused, also when it was imported before."""
    (folder / "triton").mkdir()
    (folder / "triton" / "__init__.py").write_text("raise ImportError('the wrong one')")
    assert "[0.0, 2.0, 4.0, 6.0]" in run("-m", "trivet", "run", "script.py", cwd=folder)
    (folder / "late.py").write_text(
        "import sys, types; sys.modules['triton'] = types.ModuleType('triton')\n"
        "import trivet; trivet.as_triton()\nimport triton; print(triton is trivet)"
    )
    assert "True" in run("late.py", cwd=folder)


def test_what_only_triton_has_is_an_import_error(folder):
    (folder / "only.py").write_text("import triton.absent")
    assert "triton.absent" in run("-m", "trivet", "run", "only.py", cwd=folder, expect=1)


def test_pytest_plugin(folder):
    (folder / "conftest.py").write_text("import triton\nassert triton.TRIVET_VERSION\n")
    (folder / "test_it.py").write_text(
        "import triton\nimport triton.language as tl\n\ndef test_it():\n    import trivet\n    assert triton is trivet\n"
    )
    assert "1 passed" in run(
        "-m", "pytest", "-q", "-p", "trivet.as_triton", "-p", "no:cacheprovider", "test_it.py", cwd=folder
    )


def test_compile_dis_asm_verify_run(folder):
    (folder / "add.py").write_text(
        textwrap.dedent(
            """
            import triton
            import triton.language as tl

            @triton.jit
            def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, SCALE: tl.constexpr = 1):
                i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                tl.store(out_ptr + i, (tl.load(x_ptr + i, mask=i < n) + tl.load(y_ptr + i, mask=i < n)) * SCALE, mask=i < n)
            """
        )
    )
    trivet = ("-m", "trivet")
    shown = run(
        *trivet,
        "compile",
        "add.py:add",
        "--signature",
        "*fp32, *fp32, *fp32, i32, 64, SCALE=2",
        "-o",
        "a.tvbc",
        cwd=folder,
    )
    assert "n: i32" in shown
    run(*trivet, "dis", "a.tvbc", "--loc", "-o", "a.tvt", cwd=folder)
    run(*trivet, "asm", "a.tvt", "-o", "b.tvbc", cwd=folder)
    assert (folder / "a.tvbc").read_bytes() == (folder / "b.tvbc").read_bytes()
    assert "ok" in run(*trivet, "verify", "a.tvbc", cwd=folder)
    np.save(folder / "x.npy", np.arange(100, dtype=np.float32))
    run(*trivet, "run", "a.tvbc", "--grid", "2", "--arg", "x.npy", "--arg", "ones:fp32:100", "--arg", "zeros:fp32:100",
        "--arg", "100", "--save", "out_ptr=sum.npy", "--schedule", "random", "--seed", "3", cwd=folder)  # fmt: skip
    assert np.load(folder / "sum.npy").tolist() == [2.0 * (v + 1) for v in range(100)]
    assert np.load(folder / "x.npy").tolist() == list(range(100))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["compile", "absent.py:k", "--signature", "i32"], "no such file"),
        (["compile", "script.py:absent", "--signature", "i32"], "it has double"),
        (["compile", "script.py:double", "--signature", "*fp99, 4"], "unknown type"),
        (["compile", "script.py:double", "--signature", "*fp32"], "missing"),
        (["verify", "script.py"], "byte 0x"),
        (["dis", "absent.tvbc"], "absent.tvbc"),
        (["run", "script.tvbc"], "script.tvbc"),
    ],
)
def test_command_line_errors(folder, arguments, words):
    shown = run("-m", "trivet", *arguments, cwd=folder, expect=1)
    assert words in shown and "Traceback" not in shown


@pytest.mark.parametrize("command", [[], ["compile"], ["dis"], ["asm"], ["verify"], ["run"]])
def test_help(command, tmp_path):
    assert "usage: trivet" in run("-m", "trivet", *command, "--help", cwd=tmp_path)
