"""Kernels from generated source text: a kernel must come from a file, so each text becomes one in a temporary folder."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import trivet as triton
import trivet.language as tl

_FOLDER = tempfile.TemporaryDirectory(prefix="trivet-generated-")
_NUMBER = itertools.count()


def function_from(source: str, name: str) -> Any:
    """The Python function ``name`` that ``source`` defines; ``tl`` and ``triton`` are in scope, kernels can be made of it."""
    path = Path(_FOLDER.name) / f"generated_{next(_NUMBER)}.py"
    path.write_text(source)
    namespace: dict[str, Any] = {"tl": tl, "triton": triton, "__name__": path.stem}
    exec(compile(source, str(path), "exec"), namespace)
    return namespace[name]


def kernel_from(source: str, name: str) -> Any:
    """``triton.jit`` of the function ``name`` in ``source``."""
    return triton.jit(function_from(source, name))
