"""What kernels become: tests/frontend/text, one decision of the lowering a file, the bytecode as text without locations.

TRIVET_UPDATE_GOLDEN=1 rewrites the expected texts; read the difference before it is committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import frontend_files
from trivet import _trivet

CASES = sorted((Path(__file__).parents[1] / "frontend" / "text").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_text(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, diagnostics = frontend_files.compile_case(path)
    assert module is not None, "\n\n".join(d[4] for d in diagnostics)
    printed = capsys.readouterr().out
    text = module.to_text()
    if printed:
        text = "; printed while compiling: " + repr(printed) + "\n" + text
    frontend_files.check(text, path.with_suffix(".tvt"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_text_reads_back(path: Path) -> None:
    """What the frontend makes survives the text form and the file form."""
    module, _ = frontend_files.compile_case(path)
    with_locations = module.to_text(locations=True)
    assert _trivet.parse(with_locations, path.name).to_text(locations=True) == with_locations
    assert _trivet.read(module.to_bytes()).to_text(locations=True) == with_locations


def test_there_are_enough() -> None:
    assert len(CASES) >= 50
