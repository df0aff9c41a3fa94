"""The interpreter benchmark runs, judges as it says, and its exit status means what README.md says."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="module")
def benchmark(root: Path) -> ModuleType:
    """benchmarks/interpreter.py as a module."""
    spec = importlib.util.spec_from_file_location("interpreter_benchmark", root / "benchmarks/interpreter.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result(ms: float, error: float = 0.0, extra_mib: float | None = 1.0) -> dict[str, Any]:
    return {"ms": ms, "max_error": error, "bound": 0.5, "extra_mib": extra_mib}


def test_quick_run_writes_its_numbers(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    command = [sys.executable, root / "benchmarks/interpreter.py", "--quick", "--no-peer", "--only", "add"]
    done = subprocess.run([*command, "--json", file], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    (case,) = json.loads(file.read_text())["cases"]
    assert case["case"] == "vector add"
    assert case["right"] and case["ratio"] is None and case["fast_enough"] is None
    assert case["trivet"]["ms"] > 0


def test_unknown_case(root: Path) -> None:
    command = [sys.executable, root / "benchmarks/interpreter.py", "--only", "nothing of the kind"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "vector add" in done.stdout


@pytest.mark.parametrize(("peer_ms", "met"), [(999.0, False), (1000.0, True)])
def test_speed_aim(benchmark: ModuleType, peer_ms: float, met: bool) -> None:
    case = benchmark.CASES[0]
    verdict = benchmark.judge(case, result(10.0), result(peer_ms), quick=False)
    assert case.aim == 100
    assert verdict["fast_enough"] is met


@pytest.mark.parametrize(("extra_mib", "met"), [(63.9, True), (64.0, False), (None, None)])
def test_memory_aim(benchmark: ModuleType, extra_mib: float | None, met: bool | None) -> None:
    verdict = benchmark.judge(benchmark.CASES[0], result(1.0, extra_mib=extra_mib), None, quick=False)
    assert verdict["small_enough"] is met


def test_a_wrong_or_failed_case_is_not_right(benchmark: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    case = benchmark.CASES[0]
    assert benchmark.judge(case, result(1.0), None, quick=False)["right"]
    wrong = benchmark.judge(case, result(1.0, error=0.6), result(9.0), quick=False)
    failed = benchmark.judge(case, {"failed": "no luck"}, {"failed": "nor here"}, quick=False)
    assert not wrong["right"] and not failed["right"]
    benchmark.print_row(wrong)
    benchmark.print_row(failed)
    out = capsys.readouterr().out
    assert "Trivet is wrong" in out and "Trivet failed: no luck" in out and "the peer failed: nor here" in out


def test_peak_memory_is_noticed(benchmark: ModuleType) -> None:
    kept, grown_mib = benchmark.with_peak_memory(lambda: len(bytearray(b"x") * (32 << 20)))
    assert kept == 32 << 20
    if grown_mib is None:
        pytest.skip("/proc does not tell a process's peak here")
    assert 31 < grown_mib < 40
