"""What programs of other projects and of older releases do, each kind in a kernel of our own; tests/corpus/sweep.py found them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl


@tl.constexpr
def _wider(dtype):
    return tl.float32 if dtype.is_fp16() or dtype.is_bf16() else dtype


@triton.jit
def _is_large(dtype: tl.constexpr):
    inner = dtype.value  # the type inside the constexpr, as old programs unwrap it
    if inner.is_floating():
        return 1
    return inner.int_bitwidth


@triton.jit
def _shift(x, by: tl.constexpr):
    return x + by


@triton.jit
def _types_kernel(out, DTYPE: tl.constexpr):
    tl.static_assert(_wider(tl.float16) == tl.float32)
    integer: tl.constexpr = tl.core.get_int_dtype(bitwidth=16, signed=False)
    tl.static_assert(integer == tl.uint16)
    tl.store(out, _is_large(DTYPE))


def test_a_constexpr_of_a_function_runs_while_compiling_and_types_have_a_value() -> None:
    out = np.zeros(1, np.int32)
    _types_kernel[(1,)](out, tl.float32)
    assert out[0] == 1
    _types_kernel[(1,)](out, tl.int16)
    assert out[0] == 16


@triton.jit
def _run_time_kernel(out, n):
    tl.store(out, _shift(n, tl.load(out)))


def test_a_helper_takes_a_run_time_value_for_a_constexpr_parameter() -> None:
    out = np.array([5], np.int32)
    _run_time_kernel[(1,)](out, 7)
    assert out[0] == 12


@triton.jit
def _transposed_kernel(a, b, out, A: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at), trans_a=A, trans_b=B, allow_tf32=False))


def test_dot_transposes_its_operands_when_asked() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 16, 16), np.float32)
    for flag_a, flag_b in [(False, True), (True, False), (True, True)]:
        out = np.zeros_like(a)
        _transposed_kernel[(1,)](a, b, out, flag_a, flag_b)
        np.testing.assert_allclose(out, (a.T if flag_a else a) @ (b.T if flag_b else b), rtol=1e-6)


@triton.jit
def _names_kernel(out, x):
    tl.store(
        out, tl.math.fast_expf(x) + tl.math.max(x, 2.0) + tl.libdevice.cbrt(x) + tl.extra.cuda.libdevice.fast_tanhf(x)
    )
    tl.extra.cuda.gdc_wait()


def test_names_of_older_releases() -> None:
    out = np.zeros(1, np.float32)
    _names_kernel[(1,)](out, 1.0)
    assert abs(out[0] - (np.e + 2 + 1 + np.tanh(1))) < 1e-6


def test_libdevice_is_one_module_under_all_its_names() -> None:
    import trivet.language.extra.cuda.libdevice as under_cuda
    from trivet.language.extra import libdevice
    from trivet.language.extra.cpu import libdevice as under_cpu
    from trivet.language.extra.hip import libdevice as under_hip

    assert under_cuda is libdevice and under_cpu is libdevice and under_hip is libdevice


@triton.jit
def _hinted_kernel(out, n, FLATTEN: tl.constexpr):
    total = 0
    for i in range(n, flatten=FLATTEN):
        total += i
    tl.store(out, total)


def test_range_of_python_takes_hints() -> None:
    out = np.zeros(1, np.int32)
    _hinted_kernel[(1,)](out, 5, True)
    assert out[0] == 10


def test_a_warmed_up_kernel_launches_and_has_what_occupancy_formulas_use() -> None:
    out = np.zeros(1, np.int32)
    kernel = _hinted_kernel.warmup(out, 5, True, grid=(1,), num_warps=8)
    kernel._init_handles()
    assert 65536 // (kernel.n_regs * kernel.metadata.num_warps) // kernel.metadata.shared == 8192
    kernel[(1, 1, 1)](out, 6, True)
    assert out[0] == 15


def test_bench_points_cuts_a_benchmark_short(monkeypatch, capsys) -> None:
    seen = []

    def measure(n: int, provider: str) -> float:
        seen.append((n, provider))
        return 1.0

    bench = triton.testing.Benchmark(["n"], [1, 2, 3], "provider", ["a", "b"], ["A", "B"], "", {})
    report = triton.testing.perf_report(bench)(measure)
    monkeypatch.setenv("TRIVET_BENCH_POINTS", "1")
    report.run(print_data=True)
    assert seen == [(1, "a"), (1, "b")]
    monkeypatch.setenv("TRIVET_BENCH_POINTS", "0")
    report.run(print_data=True)
    assert len(seen) == 2
    monkeypatch.delenv("TRIVET_BENCH_POINTS")
    report.run()
    assert len(seen) == 8


def test_options_of_run_for_a_script(monkeypatch, tmp_path, capsys) -> None:
    from trivet import cli

    script = tmp_path / "script.py"
    script.write_text(
        "import sys, triton\n"
        "target = triton.runtime.driver.active.get_current_target()\n"
        "print(target.backend, target.arch, sys.argv[1:], triton.knobs.bench_points())\n"
    )
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setattr("sys.path", sys.path[:])
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setenv("TRIVET_TARGET", "")
    monkeypatch.setenv("TRIVET_BENCH_POINTS", "")
    assert cli.main(["run", "--target", "cuda:90", "--bench-points", "2", str(script), "--x"]) == 0
    assert capsys.readouterr().out == "cuda 90 ['--x'] 2\n"


def test_what_the_fork_for_processors_adds() -> None:
    config = triton.Config({"B": 1}, num_cpu_threads=2)
    assert config.all_kwargs()["num_cpu_threads"] == 2
    triton.runtime.driver.set_active_to_cpu()
    assert triton.runtime.driver.get_active_gpus() == []
    assert triton.testing.do_bench(lambda: None, warmup=0, rep=0, measure_time_with_hooks=True) > 0


@triton.jit
def _rounded_kernel(x, out):
    tl.store(out, tl.load(x).to(out.dtype.element_ty, fp_downcast_rounding="rtne"))


def test_a_rounding_is_no_mistake_where_the_type_stays() -> None:
    x = np.array([1 + 2**-12], np.float32)
    for dtype in (np.float32, np.float16):
        out = np.zeros(1, dtype)
        _rounded_kernel[(1,)](x, out)
        assert out[0] == dtype(x[0])


@pytest.mark.needs_torch
def test_pytorch_finds_what_it_looks_for_in_triton() -> None:
    """Decorators of torch.compiler import parts of Triton; run apart, since they change PyTorch for good."""
    program = (
        "import trivet; trivet.as_triton()\n"
        "import torch\n"
        "@torch.compiler.disable\n"
        "def f(x): return x + 1\n"
        "import torch._inductor.runtime.hints, torch._inductor.runtime.triton_compat\n"
        "from torch.utils._triton import has_triton\n"
        "print(f(1), has_triton())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "2 False\n", done.stderr


@pytest.mark.needs_torch
def test_the_processor_is_a_device_like_others() -> None:
    import torch

    device = triton.runtime.driver.active.get_active_torch_device()
    namespace = getattr(torch, device.type)
    namespace.set_stream(namespace.Stream())


@triton.jit
def _product_kernel(a, out):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(a + at)))


def test_the_precision_of_products_can_be_chosen_from_outside(monkeypatch) -> None:
    a = np.random.default_rng(0).random((16, 16), np.float32)
    exact = a.astype(np.float64) @ a

    def error(**options: str) -> float:
        out = np.zeros_like(a)
        _product_kernel[(1,)](a, out, **options)
        return float(np.abs(out - exact).max())

    assert error() > 1e-4
    assert error(default_dot_input_precision="ieee") < 1e-5
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    assert error() < 1e-5
    monkeypatch.setenv("TRIVET_DOT_PRECISION", "bf16x3")
    assert 0 < error() < 1e-3
    monkeypatch.setenv("TRIVET_DOT_PRECISION", "sharp")
    with pytest.raises(
        ValueError, match="TRIVET_DOT_PRECISION must be tf32, tf32x3, ieee, bf16x3 or bf16x6, found 'sharp'"
    ):
        error()
