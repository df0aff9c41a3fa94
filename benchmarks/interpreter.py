"""Measures Trivet's interpreter beside Triton's own (TRITON_INTERPRET=1), in one run and on the same inputs.

    python benchmarks/interpreter.py             every case, with aims
    python benchmarks/interpreter.py --quick     small sizes, one repeat: does it run at all?

Kernels, inputs (by seed) and references (in float64) are those of examples/. Each case runs in a process of its own on
each side, so that one case's memory and warm caches are not another's. What each column means stands in README.md.
"""

import argparse
import gc
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MEMORY_AIM_MIB = 64


class Case(NamedTuple):
    """A variant of an example, and how many times faster than the peer it should be."""

    name: str
    example: str
    variant: dict[str, Any]
    quick: dict[str, Any]  # what --quick changes in the variant
    aim: int


SMALL_ATTENTION = {"batch": 1, "heads": 2, "n": 128}
SMALL_MATMUL = {"m": 128, "n": 128, "k": 128}
CASES = (
    Case("vector add", "vector_add", {"n": 1 << 20}, {"n": 1 << 16}, 100),
    Case("softmax, row a program", "softmax", {"n_programs": 1823}, {"n_rows": 128}, 100),
    Case("softmax, persistent", "softmax", {}, {"n_rows": 128}, 100),
    Case("matmul, float32", "matmul", {"dtype": "float32"}, SMALL_MATMUL, 50),
    Case("matmul, float16", "matmul", {"dtype": "float16"}, SMALL_MATMUL, 50),
    Case("attention, float16", "flash_attention", {"dtype": "float16"}, SMALL_ATTENTION, 50),
    Case("attention, float32", "flash_attention", {"dtype": "float32"}, SMALL_ATTENTION, 50),
)


# --- in the measuring process --------------------------------------------------------------------------------------------


def memory_kib(field: str) -> int | None:
    """A field of /proc/self/status: VmRSS, resident now, or VmHWM, its peak. None where there is no such file."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) for line in lines if line.startswith(field + ":")]
    return found[0] if found else None


def with_peak_memory(run) -> tuple[Any, float | None]:
    """The result of ``run()``, and by how many MiB the process outgrew what was resident before, at its peak."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # sets VmHWM back to VmRSS; proc(5)
    except OSError:
        return run(), None
    before = memory_kib("VmRSS")
    result = run()
    peak = memory_kib("VmHWM")
    return result, None if before is None or peak is None else (peak - before) / 1024


def nbytes(tensor) -> int:
    """The size of a tensor's elements in memory."""
    return tensor.nbytes if hasattr(tensor, "nbytes") else tensor.numel() * tensor.element_size()


def measure(side: str, example: str, variant: dict[str, Any], repeats: int, threads: int) -> dict[str, Any]:
    """Measure one case on one side, ``"trivet"`` or ``"triton"``, in this process."""
    sys.path.insert(0, str(EXAMPLES))
    import peer

    if side == "triton":
        version = peer.answer_as_trivet()
    else:
        version = importlib.import_module("trivet").__version__
    import numpy as np

    import tensors

    if tensors.torch is not None:
        tensors.torch.set_num_threads(threads)
    work = importlib.import_module(example).make(**variant)
    start = time.perf_counter()
    outputs, grown_mib = with_peak_memory(work.run)
    first_ms = (time.perf_counter() - start) * 1e3
    if grown_mib is not None:
        grown_mib -= sum(nbytes(output) for output in outputs) / 2**20
    del outputs
    times_ms = peer.time_ms(work.run, repeats)
    verdict = work.check()
    return {
        "side": side,
        "version": version,
        "numpy": np.__version__,
        "torch": None if tensors.torch is None else tensors.torch.__version__,
        "shape": verdict.shape,
        "dtype": verdict.dtype,
        "first_ms": first_ms,
        "times_ms": times_ms,
        "ms": statistics.median(times_ms),
        "max_error": verdict.max_error,
        "bound": verdict.bound,
        "extra_mib": grown_mib,
    }


# --- in the reporting process --------------------------------------------------------------------------------------------


def measure_in_process(side: str, python: str, case: Case, options: argparse.Namespace) -> dict[str, Any]:
    """Run ``measure`` in a fresh process; ``{"failed": why}`` if that ends badly."""
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TRIVET_THREADS"):
        environment[name] = str(options.threads)
    # The peer multiplies by NumPy: let OpenBLAS choose its kernels by itself, the fastest ones, whatever is set here.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "TRITON_INTERPRET"):
        environment.pop(name, None)
    variant = case.variant | (case.quick if options.quick else {})
    repeats = 1 if options.quick else options.repeats if side == "trivet" else options.peer_repeats
    job = json.dumps({"side": side, "example": case.example, "variant": variant, "repeats": repeats})
    command = [python, "-W", "ignore", __file__, "--job", job, "--threads", str(options.threads)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"no result within {options.timeout:.0f} s"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine(threads: int) -> dict[str, Any]:
    """What the numbers depend on, besides the code."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": processor(),
        "cores": cores,
        "threads": threads,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


ROW = "{:<23} {:>9} {:>9} {:>7} {:>5} {:>6}  {:>8} {:>8}  {:>7} {:>7}"
HEADER = ROW.format("", "Trivet", "peer", "", "", "", "error", "error", "memory", "memory")
UNITS = ROW.format("case", "ms", "ms", "ratio", "aim", "", "Trivet", "peer", "Trivet", "peer")


def number(result: dict[str, Any] | None, key: str, form: str) -> str:
    """A cell of the table."""
    value = (result or {}).get(key)
    return "-" if value is None else format(value, form)


def judge(case: Case, ours: dict[str, Any], theirs: dict[str, Any] | None, quick: bool) -> dict[str, Any]:
    """Ratio, aims and correctness of one case."""
    ratio = theirs["ms"] / ours["ms"] if theirs and "ms" in theirs and "ms" in ours else None
    extra_mib = ours.get("extra_mib")
    return {
        "case": case.name,
        "trivet": ours,
        "peer": theirs,
        "ratio": ratio,
        "aim": case.aim,
        "fast_enough": None if ratio is None or quick else ratio >= case.aim,
        "small_enough": None if extra_mib is None or quick else extra_mib < MEMORY_AIM_MIB,
        "right": "ms" in ours and ours["max_error"] <= ours["bound"],
    }


def print_row(verdict: dict[str, Any]) -> None:
    """One line of the table, and one for each side that failed."""
    ours, theirs = verdict["trivet"], verdict["peer"]
    print(
        ROW.format(
            verdict["case"],
            number(ours, "ms", ".2f"),
            number(theirs, "ms", ".1f"),
            "-" if verdict["ratio"] is None else f"{verdict['ratio']:.0f}x",
            f"{verdict['aim']}x",
            {None: "-", True: "met", False: "MISSED"}[verdict["fast_enough"]],
            number(ours, "max_error", ".1e"),
            number(theirs, "max_error", ".1e"),
            number(ours, "extra_mib", ".1f"),
            number(theirs, "extra_mib", ".1f"),
        ),
        flush=True,
    )
    for side, result in (("Trivet", ours), ("the peer", theirs)):
        if result and "failed" in result:
            print(f"    {side} failed: {result['failed']}")
        elif result and result["max_error"] > result["bound"]:
            print(f"    {side} is wrong: its error {result['max_error']:.2e} exceeds {result['bound']:.2e}")


def print_summary(verdicts: list[dict[str, Any]], quick: bool) -> None:
    """Versions, and what was aimed at and missed."""
    for side, key in (("Trivet", "trivet"), ("peer: Triton", "peer")):
        result = next((v[key] for v in verdicts if v[key] and "version" in v[key]), None)
        if result:
            print(f"{side} {result['version']}, NumPy {result['numpy']}, PyTorch {result['torch'] or 'not installed'}")
    if quick:
        print("quick: small sizes; aims are not judged")
        return
    for aim, key in (("speed", "fast_enough"), (f"less than {MEMORY_AIM_MIB} MiB of extra memory", "small_enough")):
        judged = [v for v in verdicts if v[key] is not None]
        missed = [v["case"] for v in judged if not v[key]]
        print(f"{aim}: met in {len(judged) - len(missed)} of {len(verdicts)}", end="")
        print(f"; missed in {'; '.join(missed)}" if missed else "", end="")
        print(f"; not measured in {len(verdicts) - len(judged)}" if len(judged) < len(verdicts) else "")


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measures Trivet's interpreter beside Triton's.")
    parser.add_argument("--quick", action="store_true", help="small sizes, one repeat; no judgement on aims")
    parser.add_argument("--only", metavar="NAME", default="", help="only the cases whose name contains NAME")
    parser.add_argument("--threads", type=int, default=2, help="threads on both sides (2)")
    parser.add_argument("--repeats", type=int, default=15, help="timed runs of Trivet, of which the median counts (15)")
    parser.add_argument("--peer-repeats", type=int, default=3, help="timed runs of the peer (3)")
    parser.add_argument("--no-peer", action="store_true", help="measure Trivet alone")
    parser.add_argument("--peer-python", metavar="PATH", default=sys.executable, help="a Python that has Triton")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=300.0, help="for a case on a side (300)")
    parser.add_argument("--json", metavar="FILE", help="also write all numbers to FILE")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Returns 1 if Trivet fails or is wrong in some case; a missed aim is reported, not an error."""
    options = parse_options()
    if options.job:
        print(json.dumps(measure(**json.loads(options.job), threads=options.threads)))
        return 0
    cases = [case for case in CASES if options.only.lower() in case.name]
    if not cases:
        print(f"no case's name contains {options.only!r}; there are: {'; '.join(case.name for case in CASES)}")
        return 1
    where = machine(options.threads)
    print(f"{where['processor']}, {where['cores']} cores, {where['threads']} threads; Python {where['python']}")
    print(f"{where['system']}\n\n{HEADER}\n{UNITS}")
    verdicts = []
    for case in cases:
        ours = measure_in_process("trivet", sys.executable, case, options)
        theirs = None if options.no_peer else measure_in_process("triton", options.peer_python, case, options)
        verdicts.append(judge(case, ours, theirs, options.quick))
        print_row(verdicts[-1])
    print()
    print_summary(verdicts, options.quick)
    if options.json:
        text = json.dumps({"machine": where, "quick": options.quick, "cases": verdicts}, indent=2)
        Path(options.json).write_text(text + "\n")
    return 0 if all(v["right"] for v in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
