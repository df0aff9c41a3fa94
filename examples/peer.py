"""Runs these examples, unchanged, on the peer: Triton itself under its own interpreter.

As a program it times one variant of one example and prints a line of JSON, for demo.py, which starts it in a process
of its own, since Triton must see TRITON_INTERPRET before it is imported:

    python examples/peer.py softmax '{"n_rows": 100}' 3
"""

import builtins
import importlib
import json
import os
import statistics
import sys
import time


class _Int(type):
    """The type of a stand-in for ``int`` that also converts an array of one element, whatever its rank."""

    def __instancecheck__(cls, value):
        return isinstance(value, builtins.int)

    def __call__(cls, *args):
        if len(args) == 1 and hasattr(args[0], "item"):
            return builtins.int(args[0].item())
        return builtins.int(*args)


def answer_as_trivet() -> str:
    """Make ``import trivet`` import Triton with its interpreter on; returns Triton's version.

    Triton 3.6's interpreter keeps scalars in arrays of one element and converts those by ``int()``, as in
    ``range(0, tl.cdiv(K, BLOCK))``. NumPy 2.4 and newer refuse that for arrays of rank 1, so that ``int`` is replaced
    in that one module of Triton. It costs the peer no time to speak of, and an older NumPy behaves as before.

    Raises:
        ImportError: Triton or PyTorch, without which it has no tensors, isn't installed.
    """
    os.environ["TRITON_INTERPRET"] = "1"
    importlib.import_module("torch")
    triton = importlib.import_module("triton")
    interpreter = importlib.import_module("triton.runtime.interpreter")
    interpreter.int = _Int("int", (), {})
    sys.modules["trivet"] = triton
    sys.modules["trivet.language"] = importlib.import_module("triton.language")
    return triton.__version__


def time_ms(run, repeats: int) -> list[float]:
    """Wall time of each of ``repeats`` calls of ``run``, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main(example: str, variant: str, repeats: str) -> None:
    """Time the peer and print ``{"ms": median}``, or ``{"missing": why}`` where it isn't installed."""
    try:
        answer_as_trivet()
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
        return
    work = importlib.import_module(example).make(**json.loads(variant))
    print(json.dumps({"ms": statistics.median(time_ms(work.run, int(repeats)))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
