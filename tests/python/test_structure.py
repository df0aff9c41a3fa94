"""The laws of the tree that a program can check: who includes whom, and what each folder says that it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Folder -> the folders whose headers it may include, besides its own. Each arrow of STYLE.md section 3 is written once;
# what those may include comes with them.
ARROWS = {
    "vm/base": [],
    "vm/numerics": ["vm/base"],
    "vm/bytecode": ["vm/numerics"],
    "vm/interpreter": ["vm/bytecode"],
    "vm/debug": ["vm/interpreter"],
    "vm/tools": ["vm/debug"],
    "frontend": ["vm/bytecode"],
    "jit/analysis": ["vm/bytecode"],
    "jit/layout": ["vm/base"],
    "jit/trace": ["jit/analysis", "vm/interpreter"],
    "jit/passes": ["jit/analysis", "jit/layout"],
    "jit/lowering": ["jit/passes"],  # the layouts that passes chose
    "jit/target": ["vm/base"],
    "jit/emulator": ["vm/numerics"],
    "jit/driver": ["vm/base"],
    "jit/runtime": ["jit/trace", "jit/passes", "jit/lowering", "jit/target", "jit/driver"],
    "jit/tools": ["jit/runtime", "vm/tools"],
    "python/bindings": ["frontend", "vm/debug", "jit/runtime"],
}

# Headers from outside -> the only folders that may include them.
FOREIGN = {
    re.compile(r"^(Python\.h|structmember\.h|frameobject\.h|pybind11/|numpy/)"): ["python/bindings"],
    re.compile(r"^llvm(-c)?/"): ["jit/lowering", "jit/target", "jit/emulator"],
    re.compile(r"^(cuda|cuda_runtime|cuda_runtime_api|nvrtc)\.h$"): [],
    re.compile(r"^absl/log/"): [],
    re.compile(r"^(gtest|gmock)/"): [],
    re.compile(r"^benchmark/"): [],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')


def folder_of(path: str) -> str | None:
    """The row of ARROWS that a path from the root belongs to: the longest one that fits."""
    fits = [folder for folder in ARROWS if path.startswith(folder + "/")]
    return max(fits, key=len) if fits else None


def reachable(folder: str) -> set[str]:
    """The folder itself and everything it may include, directly or through others."""
    seen: set[str] = set()
    todo = [folder]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += ARROWS[here]
    return seen


def violations(path: str, text: str) -> list[str]:
    """Each include in the file `path` that breaks a law, as `path:line: what`."""
    folder = folder_of(path)
    if folder is None:
        return [f"{path}:1: lies in no folder that STYLE.md section 3 names"]
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(2) or match.group(3)
        for pattern, allowed in FOREIGN.items():
            if pattern.match(header) and folder not in allowed:
                found.append(f"{path}:{number}: {folder} may not include {header}")
        if header.split("/")[0] in ("vm", "frontend", "jit", "python", "tests", "benchmarks"):
            target = folder_of(header)
            if target not in reachable(folder):
                found.append(f"{path}:{number}: {folder} may not include {header}")
        elif match.group(3) and "absl/" not in header and not any(p.match(header) for p in FOREIGN):
            found.append(f"{path}:{number}: write {header} from the root of the repository")
    return found


def our_sources() -> list[Path]:
    """All C++ of the product, without tests and benchmarks."""
    files = []
    for top in ("vm", "frontend", "jit", "python/bindings"):
        for suffix in ("*.h", "*.cc", "*.def", "*.inc"):
            files += (ROOT / top).rglob(suffix)
    return sorted(files)


def test_includes_go_one_way() -> None:
    """No file of the product includes what its folder may not know."""
    sources = our_sources()
    assert sources, "no C++ found: does this test look in the right place?"
    found = []
    for source in sources:
        found += violations(source.relative_to(ROOT).as_posix(), source.read_text())
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "line", "allowed"),
    [
        ("vm/bytecode/reader.cc", '#include "vm/base/status.h"', True),
        ("vm/bytecode/reader.cc", '#include "vm/interpreter/frame.h"', False),
        ("vm/base/bytes.cc", '#include "vm/numerics/float_formats.h"', False),
        ("vm/debug/sanitizers/races.cc", '#include "vm/interpreter/observer.h"', True),
        ("frontend/lower.cc", '#include "vm/bytecode/builder.h"', True),
        ("frontend/lower.cc", '#include "vm/interpreter/program.h"', False),
        ("frontend/lower.cc", "#include <pybind11/pybind11.h>", False),
        ("python/bindings/module.cc", "#include <pybind11/pybind11.h>", True),
        ("python/bindings/module.cc", '#include "vm/debug/engine.h"', True),
        ("vm/base/log.cc", '#include "absl/log/log.h"', False),
        ("vm/base/log.cc", '#include "absl/strings/str_cat.h"', True),
        ("vm/base/log.cc", '#include "status.h"', False),
        ("vm/new/thing.cc", "", False),
        ("jit/passes/cse.cc", '#include "frontend/ast.h"', False),
    ],
)
def test_the_scan_itself(path: str, line: str, allowed: bool) -> None:
    """The scan finds what it is there to find."""
    assert (violations(path, line) == []) == allowed


def test_arrows_have_no_cycle() -> None:
    """No folder reaches itself through what it includes."""
    for folder, targets in ARROWS.items():
        assert all(folder not in reachable(target) for target in targets), folder


def test_folders_say_what_they_are() -> None:
    """Each CMakeLists.txt of ours opens with a line on what the folder is."""
    for top in ("vm", "frontend", "jit", "python", "tests", "benchmarks"):
        for lists in (ROOT / top).rglob("CMakeLists.txt"):
            assert lists.read_text().startswith("# "), f"{lists}: the first line says what the folder is"
