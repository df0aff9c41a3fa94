"""The command ``trivet``: compile, look at, check and run tile bytecode, and run programs written for Triton.

Exit codes: 0 done, 1 the input is wrong or the kernel failed, 2 the command line is wrong.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

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
        code = arguments.handler(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print(f"trivet {arguments.command}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (errors.TrivetError, ValueError, RuntimeError, OSError) as error:
        text = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename:
            text = f"{error.filename}: {error.strerror}"
        print(f"trivet {arguments.command}: {text}", file=sys.stderr)
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


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected an integer that is not negative, found {text!r}")
    return int(text)


def _power_of_2(text: str) -> int:
    value = _natural(text)
    if value == 0 or value & (value - 1):
        raise argparse.ArgumentTypeError(f"expected a power of 2, found {text}")
    return value


def _parser() -> argparse.ArgumentParser:
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
    p.add_argument("--num-warps", type=_power_of_2, help="warps a program has on a GPU; noted in the file")
    p.add_argument("--num-stages", type=_natural, help="stages of software pipelines on a GPU; noted in the file")
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
    p.add_argument("--seed", type=_natural, default=0, help="of the schedule random, and of random: tensors")
    p.add_argument("--threads", type=_natural, default=0, help="of the schedule threads; 0: one a core")
    p.add_argument("--max-steps", type=_natural, default=0, help="stop after this many ops; 0: no limit")
    p.set_defaults(handler=_run)
    return parser


# --- compile -----------------------------------------------------------------------------------------------------------


def _load_kernel(text: str) -> Any:
    path, _, name = text.rpartition(":")
    if not path:
        raise ValueError(f"expected FILE.py:KERNEL, found {text!r}")
    if not os.path.exists(path):
        raise ValueError(f"no such file: {path}")
    from . import as_triton
    from .jit import JITFunction

    as_triton.activate()
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = _import_file(path)
    kernel = getattr(module, name, None)
    while kernel is not None and not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
        kernel = kernel.fn  # autotuned or with heuristics
    if not isinstance(kernel, JITFunction):
        kernels = [n for n, v in vars(module).items() if isinstance(v, JITFunction) and v.__module__ == module.__name__]
        raise ValueError(f"{path} has no @jit function '{name}'; it has {', '.join(kernels) or 'none'}")
    return kernel


def _import_file(path: str) -> types.ModuleType:
    """The module that a Python file makes.

    Raises:
        ValueError: it can't be imported; the traceback was printed.
    """
    path = os.path.abspath(path)
    name = pathlib.Path(path).stem
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path, loader=loader))  # type: ignore[arg-type]
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:  # of the file, whatever it is
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != path:
            frames = frames.tb_next
        if frames is not None or isinstance(error, SyntaxError):
            traceback.print_exception(error.with_traceback(frames))
        raise ValueError(f"{path} can't be imported: {type(error).__name__}: {error}") from None
    return module


def _split_signature(text: str) -> Any:
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


def _entry_value(text: str) -> Any:
    """What stands for an argument: an element type, a pointer type, or a compile-time value."""
    import ast

    try:
        return core.constexpr(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return signatures.parse_type(text)


def _compile(arguments: Any) -> int:
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
    values, _ = kernel._binder.bind(tuple(positional), {**named, **options})
    for parameter, value in zip(kernel.params, values, strict=True):
        if parameter.is_constexpr and isinstance(value, core.dtype):
            raise ValueError(f"parameter '{parameter.name}' is tl.constexpr and takes a value, found the type {value}")
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


def _write(path: str, data: Any) -> None:
    """Writes through a temporary file, so that a failed write leaves no half file behind."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: there is no folder {folder}")
    temporary = f"{path}.tmp{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _read_module(path: str) -> Any:
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".tvt"):
        return _trivet.parse(data.decode(), path)
    try:
        return _trivet.read(data)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _disassemble(arguments: Any) -> int:
    text = _read_module(arguments.file).to_text(locations=arguments.loc)
    if arguments.output:
        _write(arguments.output, text.encode())
    else:
        sys.stdout.write(text)
    return 0


def _assemble(arguments: Any) -> int:
    with open(arguments.file, encoding="utf-8") as file:
        module = _trivet.parse(file.read(), arguments.file)
    output = arguments.output or str(pathlib.Path(arguments.file).with_suffix(".tvbc"))
    _write(output, module.to_bytes())
    return 0


def _verify(arguments: Any) -> Any:
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


def _grid(text: str) -> Any:
    try:
        extents = [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise ValueError(f"--grid must be one to three integers separated by commas, found {text!r}") from None
    if not 1 <= len(extents) <= 3 or min(extents) < 0:
        raise ValueError(f"--grid must be one to three integers that are not negative, found {text!r}")
    return extents + [1] * (3 - len(extents))


def _run(arguments: argparse.Namespace) -> int:
    import numpy

    from . import bytecode_run

    module = _read_module(arguments.file)
    parameters = module.parameters
    if len(arguments.arg) != len(parameters):
        shown = ", ".join(f"{n}: {t}" for n, t in parameters)
        raise ValueError(f"{arguments.file} takes {len(parameters)} --arg: {shown}; found {len(arguments.arg)}")
    inputs = bytecode_run.read_inputs(parameters, arguments.arg, arguments.seed)
    saves = []
    for text in arguments.save:
        name, _, path = text.partition("=")
        if name not in inputs.arrays or not path:
            raise ValueError(f"--save {text}: expected PARAMETER=FILE.npy with a tensor parameter")
        saves.append((name, path))
    setting = knobs.launch()
    setting = knobs.LaunchKnobs(arguments.schedule or setting.schedule, arguments.threads or setting.threads, arguments.seed,
                                arguments.max_steps or setting.max_steps)  # fmt: skip
    bytecode_run.run(module, _grid(arguments.grid), inputs, setting)
    for name, path in saves:
        numpy.save(path, inputs.arrays[name])
    return 0
