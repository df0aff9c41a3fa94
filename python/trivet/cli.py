"""The command ``trivet``: compile, look at, check and run tile bytecode, and run programs written for Triton.

Exit codes: 0 done, 1 the input is wrong or the kernel failed, 2 the command line is wrong.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import sys
from collections.abc import Callable, Sequence

from . import _trivet, errors, knobs, signatures
from .language import core
from .version import TRIVET_VERSION

_MAGIC = b"\x89TVBC\n\x1a\n"  # vm/bytecode/file_format.h

_DESCRIPTION = """\
Trivet runs Triton kernels without a GPU.

  trivet run train.py --steps 10                    a program that imports triton, unchanged
  trivet run --bench-points 1 tutorial.py           the same, with one point of each benchmark
  trivet compile add.py:add_kernel --signature '*fp32, *fp32, *fp32, i32, 1024' -o add.tvbc
  trivet dis add.tvbc                               bytecode as text
  trivet run add.tvbc --grid 4 --arg x.npy --arg y.npy --arg zeros:fp32:4000 --arg 4000 --save 2=sum.npy
"""

_SIGNATURE_HELP = """\
one entry a parameter, separated by commas, in order or as NAME=ENTRY:
  *fp32 **i8        pointer (tensor) types           i32 u8 i1 fp16 bf16 fp32 ...   scalar types
  1024 0.5 True None 'text'                          compile-time values, for tl.constexpr parameters
parameters with defaults may be left out"""

_ARG_HELP = """\
one for each parameter, in order:
  x.npy                    a tensor, read from a NumPy file (memory of its own: the file never changes)
  zeros:fp32:64x128        a new tensor; also ones: and random: (uniform in [0, 1), seeded by --seed)
  1000  0.5  True          a scalar"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line. Gives the exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    # What follows `run SCRIPT.py` belongs to the script, options included.
    program = _program_call(argv)
    if program is not None:
        return program()
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 2
    try:
        return arguments.handler(arguments)
    except (errors.TrivetError, ValueError, RuntimeError, OSError) as error:
        print(f"trivet {arguments.command}: {error}", file=sys.stderr)
        return 1


# Options of `run` for Python programs: they stand before the program.
_PROGRAM_OPTIONS = {"--bench-points": "TRIVET_BENCH_POINTS", "--target": "TRIVET_TARGET"}


def _program_call(argv: list[str]) -> Callable[[], int] | None:
    """What runs the Python program that this command line names; None if it is another command, or `run` of a bytecode file."""
    if argv[:1] != ["run"]:
        return None
    rest, settings = argv[1:], {}
    while len(rest) > 1 and rest[0].partition("=")[0] in _PROGRAM_OPTIONS:
        option, equals, value = rest[0].partition("=")
        settings[_PROGRAM_OPTIONS[option]] = value if equals else rest[1]
        rest = rest[1 if equals else 2 :]
    call = _program(rest)
    if call is not None:
        os.environ.update(settings)
    return call


def _program(words: list[str]) -> Callable[[], int] | None:
    from . import programs

    if not words:
        return None
    first, rest = words[0], words[1:]
    if first == "-m" and rest:
        return lambda: programs.run_module(rest[0], rest[1:])
    if first == "-c" and rest:
        return lambda: programs.run_text("<string>", rest[0], "-c", rest[1:])
    if first == "-":
        return lambda: programs.run_text("<stdin>", sys.stdin.read(), "-", rest)
    if first.startswith("-") or _is_bytecode(first):
        return None
    return lambda: programs.run_script(first, rest)


def _is_bytecode(path: str) -> bool:
    """Whether the file holds tile bytecode, by its name or its first bytes."""
    if path.endswith((".tvbc", ".tvt")):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _parser():
    raw = argparse.RawDescriptionHelpFormatter
    text = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog="trivet", description=_DESCRIPTION, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"trivet {TRIVET_VERSION}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")

    p = commands.add_parser("compile", help="compile a kernel to a bytecode file", formatter_class=text,
                            description="Compiles one kernel for one signature and writes its verified bytecode (.tvbc).")  # fmt: skip
    p.add_argument("kernel", metavar="FILE.py:KERNEL", help="the Python file, and the name of a @jit function in it")
    p.add_argument("--signature", required=True, help=_SIGNATURE_HELP)
    p.add_argument(
        "-o", "--output", help="the file to write; KERNEL.tvbc if left out; - writes the text form to the terminal"
    )
    p.add_argument("--num-warps", type=int, help="warps a program has on a GPU; noted in the file")
    p.add_argument("--num-stages", type=int, help="stages of software pipelines on a GPU; noted in the file")
    p.set_defaults(handler=_compile)

    p = commands.add_parser("dis", help="show a bytecode file as text", formatter_class=text,
                            description="Prints the text form (.tvt) of a bytecode file; docs/text-form.md explains it.")  # fmt: skip
    p.add_argument("file", metavar="X.tvbc")
    p.add_argument("-o", "--output", help="the file to write instead of the terminal")
    p.add_argument(
        "--loc", action="store_true", help="with the source location of each op, so that `asm` gives back the same file"
    )
    p.set_defaults(handler=_disassemble)

    p = commands.add_parser("asm", help="make a bytecode file from text", formatter_class=text,
                            description="Reads the text form (.tvt), verifies it, and writes a bytecode file (.tvbc).")  # fmt: skip
    p.add_argument("file", metavar="X.tvt")
    p.add_argument("-o", "--output", help="the file to write; X.tvbc if left out")
    p.set_defaults(handler=_assemble)

    p = commands.add_parser("verify", help="check a bytecode file", formatter_class=text,
                            description="Reads a bytecode file and checks all that docs/bytecode.md asks for. Silent but for one "
                                        "line if it is sound; otherwise the error with its byte offset or op, and exit code 1.")  # fmt: skip
    p.add_argument("files", metavar="X.tvbc", nargs="+")
    p.set_defaults(handler=_verify)

    p = commands.add_parser(
        "run", help="run a program written for Triton, or a bytecode file", formatter_class=text,
        description="trivet run SCRIPT.py ARGS...   runs a Python program whose `import triton` means Trivet\n"
                    "trivet run -m MODULE ARGS...   the same for a module\n"
                    "trivet run X.tvbc --grid ...   runs a kernel from a bytecode file on NumPy arrays",
    )  # fmt: skip
    p.add_argument("file", metavar="X.tvbc")
    p.add_argument("--grid", default="1", help="programs along each axis: 64 or 8,8 or 4,4,2 (default 1)")
    p.add_argument("--arg", action="append", default=[], help=_ARG_HELP)
    p.add_argument("--save", action="append", default=[], metavar="PARAMETER=FILE.npy",
                   help="after the run, write a tensor to a NumPy file; PARAMETER is a name or its number from 0")  # fmt: skip
    p.add_argument(
        "--schedule",
        choices=["threads", "in_order", "random", "round_robin"],
        help="how programs take turns (default threads)",
    )
    p.add_argument("--seed", type=int, default=0, help="of the schedule random, and of random: tensors")
    p.add_argument("--threads", type=int, default=0, help="of the schedule threads; 0: one a core")
    p.add_argument("--max-steps", type=int, default=0, help="stop after this many ops; 0: no limit")
    p.set_defaults(handler=_run)
    return parser


# --- compile -----------------------------------------------------------------------------------------------------------


def _load_kernel(text):
    path, _, name = text.rpartition(":")
    if not path:
        raise ValueError(f"expected FILE.py:KERNEL, found {text!r}")
    if not os.path.exists(path):
        raise ValueError(f"no such file: {path}")
    from . import as_triton
    from .jit import JITFunction

    as_triton.activate()
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    kernel = getattr(module, name, None)
    while kernel is not None and not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
        kernel = kernel.fn  # autotuned or with heuristics
    if not isinstance(kernel, JITFunction):
        kernels = [n for n, v in vars(module).items() if isinstance(v, JITFunction) and v.__module__ == module.__name__]
        raise ValueError(f"{path} has no @jit function '{name}'; it has {', '.join(kernels) or 'none'}")
    return kernel


def _split_signature(text):
    """Entries between commas, not looking into quotes and parentheses."""
    entries, depth, quote, current = [], 0, "", ""
    for ch in text:
        if quote:
            quote = "" if ch == quote else quote
        elif ch in "'\"":
            quote = ch
        elif ch in "([":
            depth += 1
        elif ch in ")]":
            depth -= 1
        elif ch == "," and depth == 0:
            entries.append(current.strip())
            current = ""
            continue
        current += ch
    entries.append(current.strip())
    return [e for e in entries if e]


def _entry_value(text):
    """What stands for an argument: an element type, a pointer type, or a compile-time value."""
    import ast

    try:
        return core.constexpr(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return signatures.parse_type(text)


def _compile(arguments):
    from .jit import CompiledKernel, Typed

    kernel = _load_kernel(arguments.kernel)
    positional, named = [], {}
    for entry in _split_signature(arguments.signature):
        name, equals, value = entry.partition("=")
        if equals and name.strip().isidentifier():
            named[name.strip()] = _entry_value(value.strip())
        else:
            positional.append(_entry_value(entry))
    wrap = lambda v: Typed(v) if isinstance(v, core.dtype) else v  # noqa: E731
    options = {
        k: v for k, v in (("num_warps", arguments.num_warps), ("num_stages", arguments.num_stages)) if v is not None
    }
    compiled = kernel.warmup(*map(wrap, positional), grid=(1,), **{k: wrap(v) for k, v in named.items()}, **options)
    assert isinstance(compiled, CompiledKernel)
    if arguments.output == "-":
        print(compiled.module.to_text(), end="")
        return 0
    output = arguments.output or f"{kernel.__name__}.tvbc"
    _write(output, compiled.asm["tvbc"])
    print(f"{output}: {compiled.name}({', '.join(f'{n}: {t}' for n, t in compiled.module.parameters)})")
    return 0


# --- files -------------------------------------------------------------------------------------------------------------


def _write(path, data):
    """Writes through a temporary file, so that a failed write leaves no half file behind."""
    temporary = f"{path}.tmp{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _read_module(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        if path.endswith(".tvt"):
            return _trivet.parse(data.decode(), path)
        return _trivet.read(data)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _disassemble(arguments):
    text = _read_module(arguments.file).to_text(locations=arguments.loc)
    if arguments.output:
        _write(arguments.output, text.encode())
    else:
        sys.stdout.write(text)
    return 0


def _assemble(arguments):
    with open(arguments.file, encoding="utf-8") as file:
        module = _trivet.parse(file.read(), arguments.file)
    output = arguments.output or str(pathlib.Path(arguments.file).with_suffix(".tvbc"))
    _write(output, module.to_bytes())
    return 0


def _verify(arguments):
    failed = 0
    for path in arguments.files:
        try:
            module = _read_module(path)
            print(f"{path}: ok, kernel {module.kernel or 'none'}")
        except (ValueError, OSError) as error:
            failed = 1
            print(f"trivet verify: {error}", file=sys.stderr)
    return failed


# --- run ---------------------------------------------------------------------------------------------------------------


def _grid(text):
    try:
        extents = [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise ValueError(f"--grid must be one to three integers separated by commas, found {text!r}") from None
    if not 1 <= len(extents) <= 3 or min(extents) < 0:
        raise ValueError(f"--grid must be one to three integers that are not negative, found {text!r}")
    return extents + [1] * (3 - len(extents))


_ELEMENTS = {"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
             "u32": "uint32", "u64": "uint64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3": "fp8e4nv",
             "f8e5m2": "fp8e5", "f8e4b8": "fp8e4b8", "f8e5b16": "fp8e5b16", "f8e4b15": "fp8e4b15"}  # fmt: skip


def _numpy_dtype(name):
    """The NumPy type of an element type; ml_dtypes' if it is installed, else unsigned integers of the same width."""
    import numpy

    plain = {"int1": "bool", "fp16": "float16", "fp32": "float32", "fp64": "float64"}
    narrow = {"bf16": "bfloat16", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp8e4b8": "float8_e4m3fnuz",
              "fp8e5b16": "float8_e5m2fnuz"}  # fmt: skip
    if name in narrow or name == "fp8e4b15":
        try:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, narrow[name]))
        except (ImportError, KeyError):
            return numpy.dtype(f"uint{core.dtype(name).primitive_bitwidth}")
    return numpy.dtype(plain.get(name, name))


def _tensor_argument(text, seed):
    import numpy

    if text.endswith(".npy"):
        return numpy.load(text)
    kind, dtype, shape = text.split(":")
    element = signatures.parse_type(dtype)
    extents = tuple(int(part) for part in shape.split("x"))
    if kind == "random":
        return numpy.random.default_rng(seed).random(extents).astype(_numpy_dtype(element.name))
    return numpy.full(extents, 1 if kind == "ones" else 0, dtype=_numpy_dtype(element.name))


def _run(arguments):
    from . import tensors
    from .tiers.interpreter import run_module

    module = _read_module(arguments.file)
    parameters = module.parameters
    if len(arguments.arg) != len(parameters):
        shown = ", ".join(f"{n}: {t}" for n, t in parameters)
        raise ValueError(f"{arguments.file} takes {len(parameters)} --arg: {shown}; found {len(arguments.arg)}")
    words, allocations, arrays = [], [], {}
    for i, ((name, kind), text) in enumerate(zip(parameters, arguments.arg, strict=False)):
        name = name or str(i)
        is_tensor = text.endswith(".npy") or text.split(":")[0] in ("zeros", "ones", "random")
        if kind.startswith("ptr<"):
            if not is_tensor:
                raise ValueError(f"--arg {text}: parameter '{name}' is {kind} and takes a tensor")
            array = _tensor_argument(text, arguments.seed + i)
            tensor = tensors.describe(name, array)
            wanted = kind[4:-1]
            if wanted in _ELEMENTS and tensor.dtype.itemsize != core.dtype(_ELEMENTS[wanted]).itemsize:
                raise ValueError(f"--arg {text}: parameter '{name}' is {kind}, the tensor has {array.dtype}")
            arrays[name] = arrays[str(i)] = array
            words.append([tensor.address])
            allocations.append(tensor.allocation)
        elif kind in _ELEMENTS:
            if is_tensor:
                raise ValueError(f"--arg {text}: parameter '{name}' is {kind} and takes a number")
            dtype = core.dtype(_ELEMENTS[kind])
            value = {"True": True, "False": False}.get(text)
            if value is None:
                value = float(text) if dtype.is_floating() else int(text, 0)
            words.append([signatures.word_of(name, value, dtype)])
        else:
            raise ValueError(f"parameter '{name}' is {kind}: the command line can't make one")
    saves = []
    for text in arguments.save:
        name, _, path = text.partition("=")
        if name not in arrays or not path:
            raise ValueError(f"--save {text}: expected PARAMETER=FILE.npy with a tensor parameter")
        saves.append((name, path))
    setting = knobs.launch()
    setting = knobs.LaunchKnobs(arguments.schedule or setting.schedule, arguments.threads or setting.threads, arguments.seed,
                                arguments.max_steps or setting.max_steps)  # fmt: skip
    run_module(module, _grid(arguments.grid), words, allocations, setting)
    import numpy

    for name, path in saves:
        numpy.save(path, arrays[name])
    return 0
