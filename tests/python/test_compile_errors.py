"""What the author of a wrong kernel sees: tests/frontend/errors, the text of each message as a whole.

TRIVET_UPDATE_GOLDEN=1 rewrites the expected texts; read the difference before it is committed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import frontend_files

CASES = sorted((Path(__file__).parents[1] / "frontend" / "errors").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path: Path) -> None:
    module, diagnostics = frontend_files.compile_case(path)
    assert module is None, "the kernel compiles, though it is wrong"
    text = "\n\n".join(d[4] for d in diagnostics)
    frontend_files.check(frontend_files.normalise(text, path), path.with_suffix(".expected"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_one_mistake_gives_one_error(path: Path) -> None:
    """The comment ``# wrong`` marks each mistake: as many errors, and none about what follows from them."""
    marked = [n for n, line in enumerate(path.read_text().splitlines(), 1) if re.search(r"# wrong\b", line)]
    _, diagnostics = frontend_files.compile_case(path)
    found = [line for file, line, _, _, _ in diagnostics if Path(file) == path]
    assert found == marked


def test_there_are_enough() -> None:
    assert len(CASES) >= 100
