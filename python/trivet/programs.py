"""Runs Python programs written for Triton as Python itself would run them, with ``import triton`` answered by Trivet.

The program is ``__main__``: its ``sys.argv``, ``sys.path[0]``, ``__file__`` and ``__spec__``, its tracebacks, exit codes and
reaction to Ctrl-C are those of ``python script.py``, ``python -m module``, ``python -c text`` or ``python -``.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import linecache
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from . import as_triton


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Runs a file. Gives the exit code; an exception that leaves the program ends the process as Python does.

    A program that can't be read is told on stderr, and gives 1.
    """
    absolute = os.path.join(os.getcwd(), path)
    try:
        with io.open_code(absolute) as file:
            source = file.read()
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        print(f"trivet run: {reason}: {path}", file=sys.stderr)
        return 1
    main = _new_main(absolute)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", absolute)
    _set_path(os.path.dirname(os.path.realpath(path)))
    return _run(main, lambda: compile(source, absolute, "exec", dont_inherit=True), [path, *arguments])


def run_text(name: str, text: str, argument_0: str, arguments: Sequence[str]) -> int:
    """Runs a program given as text (``name``: ``<string>`` or ``<stdin>``). As ``run_script``."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    _set_path("")
    return _run(_new_main(None), lambda: compile(text, name, "exec", dont_inherit=True), [argument_0, *arguments])


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Runs a module or the ``__main__`` of a package. As ``run_script``; a module that can't be found gives 1."""
    _set_path(os.getcwd())
    as_triton.activate(for_children=True)
    spec = _spec_of(name)
    if isinstance(spec, str):
        print(f"trivet run: {spec}", file=sys.stderr)
        return 1
    code = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
    if code is None:
        print(f"trivet run: {name} has no Python code to run", file=sys.stderr)
        return 1
    main = _new_main(spec.origin)
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    main.__cached__ = spec.cached  # type: ignore[attr-defined]
    return _run(main, lambda: code, [spec.origin or name, *arguments])


def _spec_of(name: str) -> importlib.machinery.ModuleSpec | str:
    """The spec of what ``-m name`` runs, or what is wrong with it."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        return str(error)
    except ValueError:
        spec = None
    if spec is None:
        return f"No module named {name}"
    if spec.submodule_search_locations is not None:
        if name.endswith(".__main__"):
            return f"{name} is a package"
        inner = _spec_of(f"{name}.__main__")
        return f"{name} is a package without __main__, and can't be run" if isinstance(inner, str) else inner
    if spec.loader is None or not hasattr(spec.loader, "get_code"):
        return f"{name} has no Python code to run"
    return spec


def _new_main(file: str | None) -> types.ModuleType:
    """An empty ``__main__`` in place of the present one, which stays alive: its functions may be at work."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    main.__dict__.setdefault("__annotations__", {})
    if file is not None:
        main.__file__ = file
        main.__dict__["__cached__"] = None
    _replaced.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return main


_replaced: list[types.ModuleType] = []


def _set_path(folder: str) -> None:
    """Puts the program's folder where Python put that of `trivet` itself."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _run(main: types.ModuleType, code: Callable[[], Any], argv: list[str]) -> int:
    sys.argv = argv
    as_triton.activate(for_children=True)
    try:
        exec(code(), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        _show_without_our_frames(error)
        raise
    return 0


def _show_without_our_frames(error: BaseException) -> None:
    """Prints the traceback as Python would without us, and keeps Python from printing it again when the exception ends the
    process, which it must do by itself: the exit code, and the signal that a Ctrl-C ends in, are its affair."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    hook = sys.excepthook
    sys.excepthook = lambda *_: None
    hook(type(error), error.with_traceback(traceback), traceback)
