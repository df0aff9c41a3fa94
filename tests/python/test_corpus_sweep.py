"""The compile sweep of tests/corpus on a project made for it: what it finds, how it copes, what it reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SWEEP = Path(__file__).parents[1] / "corpus" / "sweep.py"

pytestmark = pytest.mark.needs_torch

FILES = {
    "project/__init__.py": "import no_such_package_at_all\nraise RuntimeError('this package cannot be imported')\n",
    "project/helpers.py": """
import triton
import triton.language as tl

@triton.jit
def double(x):
    return x + x

@triton.jit
def never_called(x, WIDTH: tl.constexpr):
    return tl.sum(x, 0) + WIDTH
""",
    "project/kernels.py": """
import triton
import triton.language as tl
from no_such_package_at_all import something, decorate
from project.helpers import double

LIMIT = something.limit() + 1   # fails: skipped

@decorate
@triton.autotune(configs=[triton.Config({'BLOCK': 64})], key=['n'])
@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})
@triton.jit
def tuned(x, y, index, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(BLOCK == 64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n)
    tl.store(y + i, double(tl.load(x + at, mask=i < n)), mask=i < n)

@triton.jit
def same_as_tuned(x, y, index, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    "Only the name, the docstring and the decorators differ."
    tl.static_assert(BLOCK == 64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n)
    tl.store(y + i, double(tl.load(x + at, mask=i < n)), mask=i < n)

@triton.jit
def mode(x, KIND: tl.constexpr, SCALE: tl.constexpr):
    if KIND == "add":
        tl.store(x, tl.load(x) + 1)
    elif KIND == "scale":
        tl.store(x, tl.load(x) * 2)
    else:
        raise ValueError("unknown kind")

def make(BLOCK=16):
    STEP = tl.constexpr(2)
    @triton.jit
    def inner(x):
        tl.store(x, STEP)
    return inner

class Group:
    @staticmethod
    @triton.jit
    def method(x, n):
        for i in range(n):
            tl.atomic_add(x + i, 1.0)

@triton.jit
def wrong(x):
    tl.store(x, tl.no_such_operation(1))

def not_a_kernel(x):
    return x
""",
}


def sweep(folder: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = folder / "report.json"
    command = [sys.executable, str(SWEEP), str(folder), "--jobs", "1", "--json", str(report), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done, json.loads(report.read_text()) if report.exists() else []


def test_each_distinct_kernel_gets_a_verdict(tmp_path: Path) -> None:
    done, results = sweep(tmp_path)
    assert done.returncode == 0, done.stderr
    assert {r["kernel"]: r["status"] for r in results} == {
        "double": "compiled", "never_called": "compiled", "tuned": "compiled", "mode": "compiled", "inner": "compiled",
        "method": "compiled", "wrong": "refused",
    }  # fmt: skip
    (wrong,) = [r for r in results if r["kernel"] == "wrong"]
    assert "no_such_operation" in wrong["error"] and wrong["error"].endswith("[kernels.py:52]")
    assert "7        6        0     1    85.7%" in done.stdout
    assert "e.g. project/kernels.py:51 wrong" in done.stdout


def test_only_and_at_least(tmp_path: Path) -> None:
    done, results = sweep(tmp_path, "--only", "kernels.py:(mode|wrong)$", "--at-least", "97")
    assert done.returncode == 1
    assert [r["kernel"] for r in results] == ["mode", "wrong"]
