"""The examples become PTX for each architecture, with the instructions that matter; no GPU is needed.

Where `ptxas` is found (in PATH, or from nvidia-cuda-nvcc), it assembles what comes out.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivet
from trivet import _trivet, dispatch
from trivet.tiers import cuda

pytestmark = pytest.mark.skipif(not hasattr(_trivet, "gpu_compile"), reason="this build has no GPU tiers (LLVM 22)")

EXAMPLES = Path(__file__).parents[2] / "examples"
TARGETS = ("sm_80", "sm_89", "sm_90a")


class Recorder:
    """A tier that keeps the kernels it is offered, and refuses them."""

    name = "recorder"
    device_kind = "cpu"
    forms: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.kernels: dict[str, tuple[Any, list[cuda.Fact]]] = {}

    def launch(self, kernel: Any, arguments: Any, grid: Any, options: Any, device: Any) -> None:
        words, _ = cuda.flattened(arguments)
        self.kernels[kernel.name] = (kernel.module, list(cuda.facts_of(kernel, words)))
        raise trivet.errors.TierRefusal("only recorded")


def load(name: str) -> Any:
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(EXAMPLES))


# Small, and such that each kernel of the examples is launched.
SIZES: dict[str, dict[str, Any]] = {
    "vector_add": {"n": 4096},
    "softmax": {"n_rows": 4, "n_cols": 1024},
    "matmul": {"m": 64, "n": 64, "k": 64},
    "layer_norm": {"n_rows": 8, "n_cols": 256, "gradient": True},
    "dropout": {"n": 4096},
    "flash_attention": {"batch": 1, "heads": 1, "n": 128},
}


@pytest.fixture(scope="module")
def kernels() -> Iterator[dict[str, tuple[Any, list[cuda.Fact]]]]:
    recorder = Recorder()
    dispatch.register(recorder, first=True)
    try:
        for name, sizes in SIZES.items():
            load(name).check(**sizes)
    finally:
        dispatch.unregister(recorder)
    yield recorder.kernels


def compiled(kernels: dict[str, tuple[Any, list[cuda.Fact]]], name: str, target: str, num_warps: int = 4) -> str:
    module, facts = kernels[name]
    text: str = _trivet.gpu_compile(module, target, num_warps, 3, 1, 0, facts, cuda.libdevice_path())["ptx"]
    return text


def test_every_example_is_recorded(kernels: dict[str, Any]) -> None:
    assert set(kernels) == {
        "add_kernel", "softmax_kernel", "matmul_kernel", "forward_kernel", "backward_kernel", "add_partials_kernel",
        "dropout_kernel", "attention_kernel",
    }  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_examples_assemble(kernels: dict[str, Any], target: str, tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas")
    missing = [] if ptxas else ["ptxas in PATH"]
    for name in kernels:
        try:
            text = compiled(kernels, name, target)
        except _trivet.GpuRefusal as refusal:
            assert "libdevice" in str(refusal) and not cuda.libdevice_path()
            missing.append(f"libdevice for {name}")
            continue
        assert f".target {target}" in text
        assert f".visible .entry {name}(" in text
        if ptxas is not None:
            source = tmp_path / f"{name}.ptx"
            source.write_text(text)
            done = subprocess.run(
                [ptxas, f"-arch={target}", str(source), "-o", str(tmp_path / "out.cubin")],
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{name}: {done.stderr}"
    if missing:
        pytest.skip(f"not all was tried; missing: {', '.join(missing)}")


def test_vector_add_moves_16_bytes_at_once(kernels: dict[str, Any]) -> None:
    text = compiled(kernels, "add_kernel", "sm_90a")
    assert text.count("ld.global.v4.b32") == 4
    assert text.count("st.global.v4.b32") == 2


@pytest.mark.parametrize("target", TARGETS)
def test_matmul_uses_tensor_cores(kernels: dict[str, Any], target: str) -> None:
    text = compiled(kernels, "matmul_kernel", target)
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in text
    assert not re.search(r"fma\.rn\.f32", text)


def test_softmax_reduces_by_shuffles_and_one_exchange_between_warps(kernels: dict[str, Any]) -> None:
    text = compiled(kernels, "softmax_kernel", "sm_90a")
    assert text.count("shfl.sync.bfly") == 10  # five steps for the maximum, five for the sum
    assert "ex2.approx" in text


def test_one_warp_needs_no_barrier_of_all(kernels: dict[str, Any]) -> None:
    assert "bar.sync" not in compiled(kernels, "softmax_kernel", "sm_90a", num_warps=1)


def test_a_refusal_names_op_and_line(kernels: dict[str, Any]) -> None:
    module = _trivet.parse(
        "kernel @k(%p: ptr<i32>) {\n  %x = arange start=0 end=64 : tile<64xi32>\n  %ps = splat %p : tile<64xptr<i32>>\n"
        '  %at = addptr %ps, %x\n  print %x prefix="x"\n  store %at, %x\n  return\n}\n',
        "k.tvt",
    )
    with pytest.raises(_trivet.GpuRefusal, match="print.*not lowered"):
        _trivet.gpu_compile(module, "sm_90a", 4, 3, 1, 0, [(16, None)], "")
    with pytest.raises(ValueError, match="sm_80 or later"):
        _trivet.gpu_compile(module, "sm_70", 4, 3, 1, 0, [(16, None)], "")
