"""`trivet run` does what Python does: the same output, traceback and exit code for every kind of program.

Each program runs under Python and under `trivet run`; what they print and return must be equal.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest

PROGRAMS = {
    "argv": "import sys; print(sys.argv)",
    "argparse": """\
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--steps", type=int, required=True)
        print(parser.parse_args().steps)
        """,
    "names": """\
        print(__name__, __package__, __spec__, __doc__, __cached__, __annotations__, __builtins__.__name__)
        print(__file__, type(__loader__).__name__)
        import __main__
        print(__main__.__file__ == __file__, vars(__main__) is globals())
        """,
    "path": "import sys, beside; print(beside.VALUE, sys.path[0])",
    "relative_import": "from . import beside",
    "syntax_error": "print('never')\ndef f(:\n    pass\n",
    "exception": """\
        import beside
        def inner(x):
            return beside.divide(x)
        if __name__ == "__main__":
            print("before")
            inner(0)
        """,
    "chained_exception": """\
        try:
            {}["key"]
        except KeyError as error:
            raise RuntimeError("second") from error
        """,
    "excepthook": """\
        import sys
        def hook(kind, value, traceback):
            frames = []
            while traceback is not None:
                frames.append(traceback.tb_frame.f_code.co_name)
                traceback = traceback.tb_next
            print("hook", kind.__name__, value, frames)
        sys.excepthook = hook
        raise ValueError("mine")
        """,
    "exit_code": "raise SystemExit(7)",
    "exit_text": "import sys; sys.exit('a message')",
    "exit_none": "import sys; sys.exit()",
    "os_exit": "import os; os._exit(3)",
    "interrupt": "raise KeyboardInterrupt",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "atexit": """\
        import atexit
        TEXT = "still here"
        atexit.register(lambda: print(TEXT))
        raise ValueError("after which atexit runs")
        """,
    "thread_outlives_main": """\
        import threading, time
        TEXT = "still here"
        def late():
            time.sleep(0.3)
            print(TEXT, __name__)
        threading.Thread(target=late).start()
        """,
    "pickle": """\
        import pickle
        class Thing: pass
        print(type(pickle.loads(pickle.dumps(Thing()))) is Thing, pickle.dumps(Thing)[:40])
        """,
    "source": """\
        import inspect
        def f():
            return 1  # a comment
        print(inspect.getsource(f))
        """,
    "future": "from __future__ import annotations\ndef f(x: Undefined): pass\nprint(f.__annotations__)",
    "not_inherited_future": "def f(x: int): pass\nprint(f.__annotations__)",
    "encoding": "# -*- coding: latin-1 -*-\nprint(ascii('\u00e9'))",
    "fork": """\
        import multiprocessing
        def work(x):
            return x + 1
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        """,
    "spawn": """\
        import multiprocessing
        def work(x):
            return x + 1, __name__
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        """,
    "input": "print(input())",
    "warnings": "import warnings\nwarnings.warn('careful')",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 42\ndef divide(x):\n    return 1 / x\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("print('init')")
    (tmp_path / "package" / "sub.py").write_text(
        "import sys, beside\nfrom . import other\nprint(other.X, __name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0])\n"
        "if len(sys.argv) > 2: beside.divide(0)\n"
    )
    (tmp_path / "package" / "other.py").write_text("X = 1")
    (tmp_path / "runnable").mkdir()
    (tmp_path / "runnable" / "__main__.py").write_text("import sys; print(__name__, __package__, __file__, sys.argv)")
    (tmp_path / "runnable" / "__init__.py").write_text("")
    return tmp_path


def _environment():
    package = str(pathlib.Path(__import__("trivet").__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}


def _run(command, cwd, text):
    done = subprocess.run(command, cwd=cwd, env=_environment(), input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def _same(words, cwd, text="typed in\n"):
    """Runs `python WORDS` and `trivet run WORDS`, and gives what both do."""
    trivet = _run([sys.executable, "-m", "trivet", "run", *words], cwd, text)
    code, out, err = _run([sys.executable, *words], cwd, text)
    assert trivet == (code, out, re.sub(r'  File "<frozen runpy>".*\n', "", err))
    return trivet


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script(folder, name):
    encoding = "latin-1" if name == "encoding" else "utf-8"
    (folder / f"program_{name}.py").write_text(textwrap.dedent(PROGRAMS[name]), encoding=encoding)
    _same([f"program_{name}.py", "--steps", "3", "-m", "--help"] if name == "argv" else [f"program_{name}.py"], folder)


def test_a_script_in_another_folder_and_behind_a_link(folder):
    (folder / "elsewhere").mkdir()
    (folder / "script.py").write_text("import sys, beside; print(sys.argv, sys.path[0], __file__)\nbeside.divide(0)")
    (folder / "elsewhere" / "link.py").symlink_to(folder / "script.py")
    code, out, err = _same(["../script.py", "a"], folder / "elsewhere")
    assert code == 1 and "../script.py" in out and "ZeroDivisionError" in err and "trivet" not in err
    _same(["elsewhere/link.py"], folder)


def test_a_script_needs_no_suffix(folder):
    (folder / "train").write_text("#!/usr/bin/env python\nprint(__name__, __file__)")
    _same(["train"], folder)


@pytest.mark.parametrize(
    "words", [["package.sub", "a"], ["package.sub", "a", "b"], ["runnable", "a"], ["beside"]], ids=str
)
def test_a_module(folder, words):
    _same(["-m", *words], folder)


@pytest.mark.parametrize(
    "name, message",
    [
        ("absent", "No module named absent"),
        ("package.absent", "No module named package.absent"),
        ("absent.absent", "No module named 'absent'"),
        ("package", "package is a package without __main__, and can't be run"),
        ("_struct", "_struct has no Python code to run"),
    ],
)
def test_a_module_that_cannot_be_run(folder, name, message):
    code, out, err = _run([sys.executable, "-m", "trivet", "run", "-m", name], folder, "")
    assert code == 1 and err.strip().splitlines()[-1] == f"trivet run: {message}"
    assert _run([sys.executable, "-m", name], folder, "")[0] == 1


def test_text(folder):
    text = "import sys\nprint(sys.argv, repr(sys.path[0]), __name__)\nimport beside\nbeside.divide(0)\n"
    code, out, err = _run([sys.executable, "-m", "trivet", "run", "-c", text, "a"], folder, "")
    assert (code, out) == (1, "['-c', 'a'] '' __main__\n") and 'File "<string>", line 4, in <module>' in err
    code, out, err = _run([sys.executable, "-m", "trivet", "run", "-", "a"], folder, text)
    assert (code, out) == (1, "['-', 'a'] '' __main__\n") and 'File "<stdin>", line 4, in <module>' in err
    assert "trivet" not in err


KERNEL = """\
import numpy as np
import triton
import triton.language as tl

@triton.jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 7)

x = np.zeros(4, np.int32)
fill[(1,)](x, 4)
print(x.tolist())
"""


def test_kernels_in_text(folder):
    for words, text in ((["-c", KERNEL], ""), (["-"], KERNEL)):
        assert _run([sys.executable, "-m", "trivet", "run", *words], folder, text) == (0, "[7, 7, 7, 7]\n", "")


def test_processes_that_a_program_starts(folder):
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "starter.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, 'kernel.py'], check=True)\n"
        "subprocess.run([sys.executable, '-c', 'import triton.language as tl; import triton; print(triton.TRIVET_VERSION, tl.__name__)'], "
        "check=True)"
    )
    code, out, err = _run([sys.executable, "-m", "trivet", "run", "starter.py"], folder, "")
    assert (code, err) == (0, "") and out.splitlines()[0] == "[7, 7, 7, 7]"
    assert out.splitlines()[1].endswith("trivet.language")


@pytest.mark.parametrize("words", [["absent.py"], ["."], ["absent/train"]])
def test_a_program_that_cannot_be_read(folder, words):
    code, out, err = _run([sys.executable, "-m", "trivet", "run", *words], folder, "")
    assert code == 1 and out == "" and err.startswith("trivet run: ") and err.endswith(f": {words[0]}\n")


def test_settings_before_the_program(folder):
    (folder / "shows.py").write_text(
        "import os, sys\nprint(os.environ['TRIVET_TARGET'], os.environ['TRIVET_BENCH_POINTS'], sys.argv[1:])"
    )
    run = [sys.executable, "-m", "trivet", "run"]
    expected = (0, "cuda:90 2 ['--target', 'x']\n", "")
    assert _run([*run, "--target", "cuda:90", "--bench-points=2", "shows.py", "--target", "x"], folder, "") == expected


ENDLESS = """\
import numpy as np
import triton
import triton.language as tl

@triton.jit
def spin(x):
    while tl.atomic_add(x, 2) >= 0:
        tl.atomic_add(x, -1)

print("running", flush=True)
spin[(1,)](np.zeros(1, np.int32))
"""


def _heed_interrupts():
    """Programs started in the background ignore Ctrl-C, and so do those that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupting_a_kernel(folder):
    """Ctrl-C ends a running kernel; the traceback names the launch, and the process ends by the signal."""
    (folder / "endless.py").write_text(ENDLESS)
    process = subprocess.Popen([sys.executable, "-m", "trivet", "run", "endless.py"], cwd=folder, env=_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=_heed_interrupts)  # fmt: skip
    assert process.stdout.readline() == "running\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert (
        "in <module>" in err
        and "spin[(1,)](np.zeros(1, np.int32))" in err
        and err.strip().endswith("KeyboardInterrupt")
    )
