"""The examples give the reference's numbers, on torch tensors and on NumPy arrays, and the demo reports what happens."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import demo
import tensors

CHECKS = [
    pytest.param(example, variant, id=name)
    for example in demo.EXAMPLES
    for name, variant in importlib.import_module(example).VARIANTS.items()
]


@pytest.fixture(params=["torch", "numpy"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Lets the examples make their inputs, and the reference, with one library or the other."""
    if request.param == "numpy":
        monkeypatch.setattr(tensors, "torch", None)
    elif tensors.torch is None:
        pytest.skip("PyTorch is not installed")
    return request.param


@pytest.mark.parametrize(("example", "variant"), CHECKS)
def test_check(library: str, example: str, variant: dict[str, Any]) -> None:
    shape, dtype, max_error, bound = importlib.import_module(example).check(**variant)
    assert shape and dtype
    assert max_error <= bound


def test_every_example_file_is_in_the_demo(root: Path) -> None:
    helpers = {"demo", "peer", "tensors"}
    assert {path.stem for path in (root / "examples").glob("*.py")} - helpers == set(demo.EXAMPLES)


def test_work_reports_the_worst_output() -> None:
    exact = np.ones(4)
    off = tensors.Work("4", "float64", lambda: (exact, exact + 0.25), lambda: (exact, exact), tolerance=0.5)
    assert off.check() == tensors.Verdict("4", "float64", 0.25, 0.5)


def test_work_does_not_pass_nan() -> None:
    broken = tensors.Work("1", "float64", lambda: (np.array([np.nan]),), lambda: (np.ones(1),), tolerance=0.5)
    verdict = broken.check()
    assert verdict.max_error > verdict.bound


# --- beyond the checks: what the host functions promise --------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 1023, 1025])
def test_vector_add_of_any_length(library: str, n: int) -> None:
    verdict = importlib.import_module("vector_add").check(n=n)
    assert verdict.max_error <= verdict.bound


@pytest.mark.parametrize(("n_rows", "n_cols", "n_programs"), [(1, 1, 1), (7, 128, 3), (5, 129, 64)])
def test_softmax_shares_rows_among_programs(library: str, n_rows: int, n_cols: int, n_programs: int) -> None:
    verdict = importlib.import_module("softmax").check(n_rows=n_rows, n_cols=n_cols, n_programs=n_programs)
    assert verdict.max_error <= verdict.bound


def test_matmul_of_transposed_and_strided_matrices() -> None:
    matmul = importlib.import_module("matmul")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((70, 130)).astype(np.float32).T[::2]  # [65, 70], neither dimension contiguous in order
    b = rng.standard_normal((90, 70)).astype(np.float32).T
    np.testing.assert_allclose(matmul.matmul(a, b), a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("activation", [None, "leaky_relu"])
def test_matmul_activation_is_a_function_argument(activation: str | None) -> None:
    matmul = importlib.import_module("matmul")
    a, b = np.eye(64, dtype=np.float32), -np.ones((64, 64), np.float32)
    c = matmul.matmul(a, b, getattr(matmul, activation) if activation else None)
    np.testing.assert_allclose(c, np.full((64, 64), -0.01 if activation else -1.0), rtol=1e-6)


def test_layer_norm_statistics() -> None:
    layer_norm = importlib.import_module("layer_norm")
    x = np.random.default_rng(1).standard_normal((9, 2100)).astype(np.float32) * 3 + 5  # more than one block of columns
    _, mean, rstd = layer_norm.forward(x, np.ones(2100, np.float32), np.zeros(2100, np.float32))
    np.testing.assert_allclose(mean, x.mean(1), rtol=1e-5)
    np.testing.assert_allclose(rstd, 1 / np.sqrt(x.var(1) + 1e-5), rtol=1e-5)


@pytest.mark.parametrize(("queries", "keys"), [(64, 200), (100, 64), (1, 1)])
def test_attention_of_fewer_or_more_keys(queries: int, keys: int) -> None:
    flash = importlib.import_module("flash_attention")
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal((1, 2, n, 32)).astype(np.float32) for n in (queries, keys, keys))
    out, lse = flash.attention(q, k, v)
    want_out, want_lse = flash.reference(q, k, v, causal=False)
    np.testing.assert_allclose(out, want_out, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(lse, want_lse, rtol=1e-5, atol=1e-5)


# --- the demo --------------------------------------------------------------------------------------------------------------


def run_demo(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["demo.py", *arguments])
    return demo.main()


def test_demo_prints_a_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo(monkeypatch, "--no-peer", "--only", "VECTOR") == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line for line in lines if line.startswith("vector add")]
    assert row.endswith("ok") and "1048576" in row and "float32" in row
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "1 of 1 kernels ok"


def test_demo_fails_with_a_kernel(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = tensors.Verdict("1", "float32", max_error=2.0, bound=1.0)
    monkeypatch.setattr(importlib.import_module("vector_add"), "check", lambda **variant: verdict)
    assert run_demo(monkeypatch, "--no-peer", "--only", "vector") == 1
    out = capsys.readouterr().out
    assert "FAIL" in out and "exceeds the bound" in out and "0 of 1 kernels ok" in out


def test_demo_says_what_a_kernel_raised(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(**variant: Any) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(importlib.import_module("vector_add"), "check", broken)
    assert run_demo(monkeypatch, "--no-peer", "--only", "vector") == 1
    assert "RuntimeError: no luck" in capsys.readouterr().out


def test_demo_refuses_an_unknown_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo(monkeypatch, "--no-peer", "--only", "nothing of the kind") == 1
    assert "no kernel" in capsys.readouterr().out


def test_demo_reports_a_missing_peer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo.Peer, "time_ms", lambda self, example, variant: "not installed")
    assert run_demo(monkeypatch, "--only", "vector") == 0
    assert "not installed" in capsys.readouterr().out
