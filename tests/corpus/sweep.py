"""Compiles every distinct Triton kernel of other projects' checkouts, from plausible signatures, and says which are refused and why.

    python tests/corpus/sweep.py ../flash-linear-attention ../Liger-Kernel --jobs 2 --json sweep.json

Kernels are counted once however often the same parameters and body occur. A helper counts as compiled if a kernel that
compiled reaches it, else it is compiled by a kernel made for it. Nothing runs but the modules' top levels (see load.py).
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import re
import sys
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import discover
import usage as usage_module


def main(argv: list[str] | None = None) -> int:
    """Runs the sweep; exit code 0 if the share of compiled kernels is at least ``--at-least`` percent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="+", type=pathlib.Path, help="folders (or files) of other projects")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--only", help="a regular expression that FILE:NAME of a kernel must contain")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an environment variable for the projects (repeatable)",
    )
    parser.add_argument("--limit", type=float, default=20, help="seconds a kernel may take")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all results")
    parser.add_argument("--at-least", type=float, default=0, help="percent that must compile for exit code 0")
    parser.add_argument("--verbose", action="store_true", help="list each kernel that is refused, with its first error")
    arguments = parser.parse_args(argv)
    os.environ.update(text.split("=", 1) for text in arguments.env)
    results = []
    seen: set[str] = set()
    for checkout in arguments.checkout:
        definitions = discover.find_definitions(checkout.resolve())
        distinct = _first_of_each(definitions, seen)
        if arguments.only:
            wanted = re.compile(arguments.only)
            distinct = [d for d in distinct if wanted.search(f"{d.path}:{d.name}")]
        results += _in_process(checkout.resolve(), definitions, distinct, arguments)
    report(results, arguments.verbose)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    passed = sum(r["status"] in PASSED for r in results)
    return 0 if 100 * passed >= arguments.at_least * len(results) else 1


PASSED = ("compiled", "reached")


def _first_of_each(definitions: list[discover.Definition], seen: set[str]) -> list[discover.Definition]:
    distinct = []
    for definition in definitions:
        if definition.identity not in seen:
            seen.add(definition.identity)
            distinct.append(definition)
    return distinct


def _in_process(
    root: pathlib.Path, definitions: list[Any], distinct: list[Any], arguments: Any
) -> list[dict[str, Any]]:
    """Sweeps one project in a process of its own, since projects patch what they import."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def work() -> None:
        try:
            send.send(_sweep(root, definitions, distinct, arguments))
        except Exception:
            send.send(traceback.format_exc())

    process = context.Process(target=work)
    process.start()
    send.close()
    try:
        results = receive.recv()
        if isinstance(results, str):
            raise RuntimeError(results)
        return results  # type: ignore[no-any-return]
    except EOFError:
        return [_result(root, d, "crashed", "the process that imported the project ended") for d in distinct]
    finally:
        process.join()


def _result(root: pathlib.Path, definition: Any, status: str, error: str = "", **more: Any) -> dict[str, Any]:
    path = definition.path.relative_to(root) if definition.path != root else pathlib.Path(definition.path.name)
    return {"project": root.name, "file": str(path), "line": definition.line, "kernel": definition.name,
            "status": status, "error": error, **more}  # fmt: skip


# --- one project


def _sweep(root: pathlib.Path, definitions: list[Any], distinct: list[Any], arguments: Any) -> list[dict[str, Any]]:
    from load import Project

    warnings.simplefilter("ignore")
    project = Project(root)
    sink = os.open(os.devnull, os.O_WRONLY)
    shown = os.dup(2)
    os.dup2(sink, 1)
    os.dup2(sink, 2)  # modules print; so do static_print and driver probes
    project.activate()
    began = time.monotonic()
    for path in sorted({d.path for d in distinct}):
        project.namespace(path)
    _show(
        shown,
        f"{root.name}: {len(distinct)} distinct of {len(definitions)} kernels; imported in {time.monotonic() - began:.0f} s\n",
    )
    table: dict[str, list[Any]] = collections.defaultdict(list)
    for definition in definitions:
        table[definition.name].append((definition.path, definition.node))
    analyser = usage_module.Analyser(table)
    called = set().union(*(d.calls for d in definitions)) if definitions else set()
    by_file: dict[pathlib.Path, list[Any]] = collections.defaultdict(list)
    for definition in distinct:
        by_file[definition.path].append(definition)
    done: dict[tuple[str, int], dict[str, Any]] = {}
    reached: set[tuple[str, int]] = set()

    def one_file(path: pathlib.Path) -> None:
        for key, result, helpers in _compile_file(root, project, analyser, by_file[path], called, arguments.limit):
            done[key] = result
            reached.update(helpers)
        _show(shown, f"\r{root.name}: {len(done)}/{len(distinct)} ")

    with ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        list(pool.map(one_file, by_file))
    _show(shown, "\n")
    reached_identities = {d.identity for d in definitions if (str(d.path), d.first_line) in reached}
    for definition in distinct:
        result = done[(str(definition.path), definition.first_line)]
        if result["status"] not in PASSED and definition.identity in reached_identities:
            result["status"], result["error"] = "reached", ""
    return list(done.values())


def _show(descriptor: int, text: str) -> None:
    os.write(descriptor, text.encode())


def _compile_file(root, project, analyser, definitions, called, limit):  # type: ignore[no-untyped-def]
    """Compiles a file's kernels in forked processes: a crash or a hang costs one kernel. Yields (key, result, helpers)."""
    context = multiprocessing.get_context("fork")
    left = list(definitions)
    while left:
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=_compile_all, args=(root, project, analyser, left, called, send))
        process.start()
        send.close()
        count, end = 0, "crashed"
        try:
            while count < len(left):
                if not receive.poll(limit):
                    end = "timeout"
                    break
                key, result, helpers = receive.recv()
                count += 1
                yield key, result, helpers
        except EOFError:
            pass
        process.kill()
        process.join()
        receive.close()
        left = left[count:]
        if left:
            definition = left.pop(0)
            yield (
                (str(definition.path), definition.first_line),
                _result(root, definition, end, f"{end} while compiling"),
                set(),
            )


def _compile_all(root, project, analyser, definitions, called, send):  # type: ignore[no-untyped-def]
    for definition in definitions:
        try:
            result, helpers = _compile_one(root, project, analyser, definition, definition.name in called)
        except Exception as error:
            result, helpers = (
                _result(root, definition, "unusable", f"{type(error).__name__}: {error}".split("\n")[0]),
                set(),
            )
        send.send(((str(definition.path), definition.first_line), result, helpers))


def _compile_one(
    root: pathlib.Path, project: Any, analyser: Any, definition: Any, is_helper: bool
) -> tuple[dict[str, Any], set[Any]]:
    from guess import Guesser

    function = project.function(definition)
    usage = analyser.usage(definition.node)
    guesser = Guesser(function, usage, project.configs.get(id(function), []), project.heuristics.get(id(function), {}))
    helpers: set[tuple[str, int]] = set()
    first_error, furthest, compiled = "", -1, False
    returns = any(
        isinstance(n, usage_module.ast.Return) and n.value is not None for n in usage_module.ast.walk(definition.node)
    )
    for number, values in enumerate(guesser.variants()):
        attempts = [False, True] if is_helper or returns else [None]
        for tile in attempts:
            try:
                kernel = _compile_values(function, definition.node, usage, values, tile)
            except Exception as error:
                text, line = _first_diagnostic(error)
                if line > furthest:
                    first_error, furthest = text, line
                continue
            compiled = True
            helpers |= _reached(kernel)
        if compiled and number >= 3:
            break  # the first few variants all run: they reach more helpers
    status = "compiled" if compiled else "refused"
    return _result(root, definition, status, "" if compiled else first_error, helper=is_helper), helpers


def _compile_values(function: Any, node: Any, usage: Any, values: dict[str, Any], tile: bool | None) -> Any:
    if tile is None:
        return function.warmup(**values)
    from guess import wrapper_source

    import trivet.language as tl
    from trivet.jit import JITFunction

    text, constants = wrapper_source(function, node, usage, values, tile)
    namespace: dict[str, Any] = {"tl": tl}
    exec(compile(text, "<wrapper>", "exec"), namespace)
    wrapper = JITFunction(namespace["wrapper"])
    wrapper._unsafe_update_src(text)
    return wrapper.warmup(F=function, **constants)


def _reached(kernel: Any) -> set[tuple[str, int]]:
    """The functions whose code is in a compiled kernel, by file and first line."""
    from trivet.jit import JITFunction

    found = set()
    for user, _, value in kernel._globals:
        for function in (user, value):
            if isinstance(function, JITFunction):
                found.add((function.fn.__code__.co_filename, function.fn.__code__.co_firstlineno))
    return found


def _first_diagnostic(error: BaseException) -> tuple[str, int]:
    """An error's message, and how far into the kernel it lies: of several attempts the one that got furthest is shown."""
    diagnostics = getattr(error, "diagnostics", None)
    if diagnostics:
        d = diagnostics[0]
        called_from = re.findall(r"called from [^:]*:(\d+)", d[4])
        return f"{d[3]}  [{os.path.basename(d[0])}:{d[1]}]", int(called_from[-1]) if called_from else d[1]
    lines = [line for line in str(error).split("\n") if line.strip()]
    return f"{type(error).__name__}: {' / '.join(lines[:2])}"[:400], 0


# --- the report


def kind_of(error: str) -> str:
    """An error without the names and numbers of one kernel, so that equal causes group."""
    error = re.sub(r"\s*\[[^\]]*:\d+\]$", "", error)
    error = re.sub(r"'[^']*'", "'…'", error)
    error = re.sub(r"tile<[^>]*>+|<\[[^\]]*\], \w+>|\[[\d, x]+\]", "TILE", error)
    return re.sub(r"\b\d+\b", "N", error)[:160]


def report(results: list[dict[str, Any]], verbose: bool) -> None:
    """Prints counts by project, and refusals by kind."""
    print(f"{'project':32} {'distinct':>8} {'compiled':>8} {'reached':>8} {'not':>5} {'percent':>8}")
    projects = list(dict.fromkeys(r["project"] for r in results))
    for name in [*projects, "all"]:
        rows = [r for r in results if name in (r["project"], "all")]
        count = collections.Counter(r["status"] for r in rows)
        passed = sum(count[s] for s in PASSED)
        share = 100 * passed / len(rows) if rows else 100
        print(
            f"{name:32} {len(rows):8} {count['compiled']:8} {count['reached']:8} {len(rows) - passed:5} {share:7.1f}%"
        )
    failed = [r for r in results if r["status"] not in PASSED]
    groups = collections.defaultdict(list)
    for r in failed:
        groups[kind_of(r["error"])].append(r)
    for kind, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"{len(rows):5}  {kind}\n         e.g. {rows[0]['file']}:{rows[0]['line']} {rows[0]['kernel']}")
    if verbose:
        for r in failed:
            print(f"{r['status']}: {r['project']}/{r['file']}:{r['line']} {r['kernel']}: {r['error']}")


if __name__ == "__main__":
    sys.exit(main())
