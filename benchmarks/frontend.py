"""How long the frontend takes: from a Python function to verified bytecode, without inspect and ast.parse.

    python benchmarks/frontend.py [--repeat N]

For each example kernel: reading and parsing the source by Python (not ours, shown apart), then conversion of the tree, type
inference, lowering and verification, with every function cold (trees converted anew) and with the language's library warm (its
trees were converted by an earlier kernel of the process). Medians of N runs, in milliseconds.
"""

import argparse
import importlib
import pathlib
import platform
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))

import trivet
import trivet.language as tl
from trivet.jit import JITFunction, Typed

AIM_MS = 3.0  # for the attention kernel, everything cold

F16, F32 = tl.pointer_type(tl.float16), tl.pointer_type(tl.float32)


def cases():
    """(label, kernel, arguments by name): types stand for tensors and numbers, everything else is compile-time."""
    out = []
    for module_name in ("vector_add", "softmax", "matmul", "layer_norm", "dropout", "flash_attention"):
        module = importlib.import_module(module_name)
        for name, kernel in vars(module).items():
            if isinstance(kernel, JITFunction) and kernel.__module__ == module_name and name.endswith("kernel"):
                out.append((f"{module_name}.{name}", kernel, arguments_of(kernel)))
    return out


def arguments_of(kernel):
    """Plausible argument types: pointers by name, i32 for sizes and strides, the defaults the examples use for the rest."""
    arguments = {}
    for parameter in kernel.params:
        name = parameter.name
        if parameter.is_constexpr:
            if parameter.has_default:
                continue
            flags = {"ACTIVATION": "", "activation": "", "CAUSAL": False, "causal": False}
            arguments[name] = flags.get(name, 64)
        elif name.endswith("_ptr") or name.endswith("_pointer") or name in ("lock", "locks", "count"):
            integer = "lock" in name or "count" in name
            arguments[name] = Typed(tl.pointer_type(tl.int32) if integer else F16 if "lse" not in name else F32)
        elif "scale" in name or "eps" in name or name == "p":
            arguments[name] = Typed(tl.float32)
        else:
            arguments[name] = Typed(tl.int32)
    return arguments


def all_functions():
    """Every @jit function of the process: their converted trees are what 'cold' drops."""
    import gc

    return [f for f in gc.get_objects() if isinstance(f, JITFunction)]


def measure(kernel, arguments, functions, drop):
    """Milliseconds of one compile; `drop`: the functions whose trees are converted anew. Parsing is done before."""
    sources = {}
    for function in drop:
        function._frontend_tree = None
    original = JITFunction._source

    def parsed(self):
        if self not in sources:
            began = time.perf_counter()
            sources[self] = original(self)
            parsed.spent += time.perf_counter() - began
        return sources[self]

    parsed.spent = 0.0
    JITFunction._source = parsed
    try:
        kernel.cache.clear()
        began = time.perf_counter()
        kernel.warmup(grid=(1,), **arguments)
        total = time.perf_counter() - began
    finally:
        JITFunction._source = original
    return (total - parsed.spent) * 1e3, parsed.spent * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=20)
    repeat = parser.parse_args().repeat
    functions = all_functions()
    library = {f for f in functions if f.__module__.startswith("trivet.")}
    print(
        f"trivet {trivet.TRIVET_VERSION}, Python {platform.python_version()}, {platform.processor() or platform.machine()}"
    )
    print(f"{'kernel':44} {'parse':>8} {'cold':>8} {'library warm':>13}   ms, medians of {repeat}")
    worst = 0.0
    for label, kernel, arguments in cases():
        try:
            kernel.warmup(grid=(1,), **arguments)
        except trivet.errors.TrivetError as error:
            print(f"{label:44} {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        cold = [measure(kernel, arguments, functions, all_functions()) for _ in range(repeat)]
        warm = [
            measure(kernel, arguments, functions, [f for f in all_functions() if f not in library])
            for _ in range(repeat)
        ]
        median = statistics.median(t for t, _ in cold)
        parse = statistics.median(p for _, p in cold)
        print(f"{label:44} {parse:8.2f} {median:8.2f} {statistics.median(t for t, _ in warm):13.2f}")
        if "attention" in label:
            worst = max(worst, median)
    print(f"aim: attention under {AIM_MS} ms: {worst:.2f} ms, {'met' if worst < AIM_MS else 'missed'}")


if __name__ == "__main__":
    main()
