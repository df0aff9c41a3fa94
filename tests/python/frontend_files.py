"""Compiles the kernels of tests/frontend: one small file a case, with what is expected beside it.

A file defines ``kernel``, and ``ARGS``: what each of its parameters is bound to, in order. A string is a type as
``trivet.signatures`` spells it ("*fp32", "i32"), a tuple of strings a tuple of run-time values; ``const(x)`` and everything that
is not a string a compile-time value.
"""

from __future__ import annotations

import importlib.util
import os
import re
import warnings
from pathlib import Path
from typing import Any

from trivet import _trivet, signatures

UPDATE = os.environ.get("TRIVET_UPDATE_GOLDEN", "") == "1"


def load(path: Path) -> Any:
    """The module that the file is, freshly executed."""
    spec = importlib.util.spec_from_file_location(f"trivet_case_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # Python has its own opinion on some of the mistakes
        spec.loader.exec_module(module)
    return module


def _spec(value: Any) -> tuple:
    if isinstance(value, str):
        return ("r", signatures.parse_type(value))
    if isinstance(value, tuple):
        return ("t", [_spec(item) for item in value], [])
    return ("c", value)


def compile_case(path: Path) -> tuple[Any, list[tuple]]:
    """(module of bytecode or None, diagnostics as ``CompileError.diagnostics``) of the file's kernel."""
    case = load(path)
    specs = [_spec(value) for value in getattr(case, "ARGS", {}).values()]
    module, diagnostics, _ = _trivet.compile(case.kernel, specs, [], False, getattr(case, "PORTABILITY", "error"))
    return module, diagnostics


def normalise(text: str, path: Path) -> str:
    """``text`` with the path of a file in tests/frontend cut to its last part, and without line numbers of the package."""
    package = str(Path(signatures.__file__).parent)
    text = text.replace(str(path.parent) + os.sep, "").replace(package + os.sep, "trivet/")
    return re.sub(r"(trivet/[\w/]+\.py):\d+", r"\1:LINE", text)


def check(found: str, golden: Path) -> None:
    """Compares with the golden file, or rewrites it where TRIVET_UPDATE_GOLDEN=1 is set."""
    found = found.rstrip("\n") + "\n"
    if UPDATE:
        golden.write_text(found)
        return
    assert golden.exists(), f"no {golden.name}: run once with TRIVET_UPDATE_GOLDEN=1 and read what it says"
    assert found == golden.read_text()
