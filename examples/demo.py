"""Runs every example, checks it and times it, beside Triton's own interpreter where that is installed.

    python examples/demo.py                    all of them
    python examples/demo.py --only softmax     those whose name contains "softmax"
    python examples/demo.py --no-peer          without Triton

Ends with exit status 1 if a kernel fails or is further from the reference than its bound.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import traceback
from pathlib import Path

import peer
import tensors

EXAMPLES = ("vector_add", "softmax", "matmul", "layer_norm", "dropout", "flash_attention")
ROW = "{:<24} {:<12} {:<7} {:>9} {:>7} {:>8} {:>13} {:>6}  {}"
REPEATS = 5
PEER_REPEATS = 1


class Peer:
    """Times examples on Triton, each in a process of its own; gives up for good where Triton isn't installed."""

    def __init__(self, python: str, timeout_s: float, wanted: bool):
        self.python = python
        self.timeout_s = timeout_s
        self.missing = not wanted
        self.absence = "not installed" if wanted else "-"

    def time_ms(self, example: str, variant: dict) -> float | str:
        """Milliseconds, or why there are none."""
        if self.missing:
            return self.absence
        command = [self.python, "-W", "ignore", peer.__file__, example, json.dumps(variant), str(PEER_REPEATS)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout_s)
        except subprocess.TimeoutExpired:
            return f"> {self.timeout_s:.0f} s"
        if done.returncode != 0:
            return "fails"
        answer = json.loads(done.stdout.splitlines()[-1])
        if "missing" in answer:
            self.missing = True
            return self.absence
        return answer["ms"]


def progress(text: str) -> None:
    """Show what is going on in a line that the next one overwrites; nothing where the output isn't a terminal."""
    if sys.stdout.isatty():
        print("\r\033[K" + text, end="", flush=True)


def run_variant(name: str, example: str, variant: dict, peer_timer: Peer) -> str | None:
    """Print the row of one variant; returns what went wrong, or None."""
    shape = dtype = error = bound = ours = "-"
    try:
        progress(f"{name}: checking …")
        module = importlib.import_module(example)
        verdict = module.check(**variant)
        shape, dtype = verdict.shape, verdict.dtype
        error, bound = f"{verdict.max_error:.1e}", f"{verdict.bound:.0e}"
        good = verdict.max_error <= verdict.bound
        wrong = None if good else f"the error {verdict.max_error:.3e} exceeds the bound {verdict.bound:.3e}"
        progress(f"{name}: timing …")
        ours = statistics.median(peer.time_ms(module.make(**variant).run, REPEATS))
    except Exception:
        wrong = traceback.format_exc()
    progress(f"{name}: timing the peer …")
    theirs = peer_timer.time_ms(example, variant)
    both = not isinstance(ours, str) and not isinstance(theirs, str)
    ratio = f"{theirs / ours:.0f}x" if both else "-"
    ours, theirs = (t if isinstance(t, str) else f"{t:.2f}" for t in (ours, theirs))
    progress("")
    print(ROW.format(name, shape, dtype, error, bound, ours, theirs, ratio, "FAIL" if wrong else "ok"), flush=True)
    return wrong


def main() -> int:
    """Run the examples that the command line names; returns the exit status."""
    parser = argparse.ArgumentParser(description="Runs, checks and times the example kernels.")
    parser.add_argument("--only", metavar="NAME", default="", help="only the kernels whose name contains NAME")
    parser.add_argument("--no-peer", action="store_true", help="don't time Triton's interpreter")
    parser.add_argument("--peer-python", metavar="PATH", default=sys.executable, help="a Python that has Triton")
    parser.add_argument("--peer-timeout", metavar="SECONDS", type=float, default=60.0, help="for one kernel (60)")
    options = parser.parse_args()

    try:
        import trivet

        version = trivet.__version__
    except (ImportError, AttributeError) as error:
        print(f"trivet can't be imported: {error}")
        print(f"Build it first: ./dev build, then ./dev exec python {Path(__file__).resolve()}")
        return 1
    print(f"Trivet {version}; errors against {tensors.reference_library()} in float64; times in ms, medians")
    print(f"of {REPEATS} runs; the peer is Triton's interpreter (TRITON_INTERPRET=1), timed once.\n")
    print(ROW.format("kernel", "shape", "dtype", "max error", "bound", "time", "peer", "ratio", ""))
    timer = Peer(options.peer_python, options.peer_timeout, not options.no_peer)
    failures = {}
    ran = 0
    for example in EXAMPLES:
        for name, variant in importlib.import_module(example).VARIANTS.items():
            if options.only.lower() not in f"{name} {example}".lower():
                continue
            ran += 1
            wrong = run_variant(name, example, variant, timer)
            if wrong:
                failures[name] = wrong
    for name, wrong in failures.items():
        print(f"\n{name}: {wrong}")
    if ran == 0:
        print(f"no kernel's name contains {options.only!r}")
        return 1
    print(f"\n{ran - len(failures)} of {ran} kernels ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
