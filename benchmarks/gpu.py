"""Kernels on a GPU: Trivet beside Triton and PyTorch, on the same inputs, in one run.

    python benchmarks/gpu.py                      the sizes of a desk check
    python benchmarks/gpu.py --only softmax       those whose name contains "softmax"
    python benchmarks/gpu.py --out results.txt    also into a file

The kernels are those of examples/, the same source for both compilers. Times are medians of triton.testing.do_bench, launches
included; "cold" is the first launch of a kernel in this process with empty caches, compile included. A result that differs from
PyTorch's in float32 or float64 by more than the example's own bound is marked WRONG and its time says nothing.
"""

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TRIVET_DEVICE", "cuda")
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
sys.path[:0] = [str(ROOT / "python"), str(EXAMPLES)]

import torch  # noqa: E402
import triton  # noqa: E402
import triton.testing  # noqa: E402

import trivet  # noqa: E402


def load(name, language):
    """An example as a module, compiled by `language`: 'trivet' as it is, 'triton' with the imports renamed."""
    source = (EXAMPLES / f"{name}.py").read_text()
    if language == "triton":
        source = source.replace("import trivet as triton", "import triton").replace(
            "import trivet.language", "import triton.language"
        )
    path = Path(tempfile.mkdtemp()) / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(f"{language}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def vector_add(example, n):
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    return (lambda: example.add(x, y)), (lambda: x + y), 12 * n, "GB/s"


def softmax(example, n):
    x = torch.randn(4096, n, device="cuda")
    return (lambda: example.softmax(x, 132 * 8)), (lambda: torch.softmax(x, 1)), 8 * x.numel(), "GB/s"


def layer_norm(example, n):
    x = torch.randn(4096, n, device="cuda", dtype=torch.float16)
    w, b = (torch.rand(n, device="cuda", dtype=torch.float16) for _ in range(2))
    plain = torch.nn.functional.layer_norm
    return (lambda: example.forward(x, w, b)[0]), (lambda: plain(x, (n,), w, b)), 4 * x.numel(), "GB/s"


def matmul(example, n):
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.float16) for _ in range(2))
    return (lambda: example.matmul(a, b)), (lambda: a @ b), 2 * n**3, "TFLOP/s"


def flash_attention(example, n):
    q, k, v = (torch.randn(4, 8, n, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    plain = torch.nn.functional.scaled_dot_product_attention

    def run():
        out = example.attention(q, k, v)
        return out[0] if isinstance(out, tuple) else out

    return run, (lambda: plain(q, k, v)), 4 * 32 * n * n * 64, "TFLOP/s"


CASES = [
    ("vector_add", vector_add, (1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28)),
    ("softmax", softmax, (256, 781, 1024, 2048, 4096, 8192, 12672)),
    ("layer_norm", layer_norm, (1024, 4096, 8192)),
    ("matmul", matmul, (512, 1024, 2048, 4096, 8192)),
    ("flash_attention", flash_attention, (1024, 4096)),
]


def timed_first_call(run):
    torch.cuda.synchronize()
    start = time.perf_counter()
    out = run()
    torch.cuda.synchronize()
    return out, 1e3 * (time.perf_counter() - start)


def agrees(out, expected):
    if out.dtype == torch.float16:
        return torch.allclose(out.float(), expected.float(), rtol=2e-2, atol=2e-2 * float(expected.float().abs().max()))
    return torch.allclose(out, expected, rtol=1e-4, atol=1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    options = parser.parse_args()
    lines = []

    def say(text):
        print(text, flush=True)
        lines.append(text)

    driver = torch.cuda.get_device_properties(0)
    say(
        f"{time.strftime('%Y-%m-%d')}  {driver.name}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}, "
        f"Triton {triton.__version__}, Trivet {trivet.__version__}, Python {platform.python_version()}"
    )
    say("ms (rate); ratio: Triton's time over Trivet's, above 1 is faster than Triton")
    say(
        f"{'kernel':<16}{'size':>10}  {'Trivet':>22}{'Triton':>22}{'PyTorch':>22}{'ratio':>7}  cold ms, Trivet / Triton"
    )
    from trivet import dispatch

    for name, case, sizes in CASES:
        if options.only not in name:
            continue
        modules = {language: load(name, language) for language in ("trivet", "triton")}
        for size in sizes:
            cells, times, cold = [], {}, {}
            try:
                runs = {language: case(module, size) for language, module in modules.items()}
                for language in ("trivet", "triton"):
                    run, plain, work, unit = runs[language]
                    out, cold[language] = timed_first_call(run)
                    mark = "" if agrees(out, plain()) else " WRONG"
                    times[language] = triton.testing.do_bench(run, return_mode="median")
                    cells.append(
                        f"{times[language]:.4f} ({work / times[language] / (1e6 if unit == 'GB/s' else 1e9):.0f}){mark}"
                    )
                plain_ms = triton.testing.do_bench(plain, return_mode="median")
                cells.append(f"{plain_ms:.4f} ({work / plain_ms / (1e6 if unit == 'GB/s' else 1e9):.0f})")
                say(
                    f"{name:<16}{size:>10}  {cells[0]:>22}{cells[1]:>22}{cells[2]:>22}"
                    f"{times['triton'] / times['trivet']:>7.2f}  {cold['trivet']:.0f} / {cold['triton']:.0f}"
                )
            except Exception as error:  # a size that fails must not hide the others
                say(f"{name:<16}{size:>10}  {type(error).__name__}: {str(error)[:160]}")
    say(f"launches by tier: {dict(dispatch.launches)}; refusals: {dict(dispatch.refusals)}")
    if options.out:
        Path(options.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
