"""docs/semantics.md says what every op of the table computes."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "vm/bytecode/ops.def"
SEMANTICS = ROOT / "docs/semantics.md"


def op_texts() -> set[str]:
    """The text names of all rows of ops.def."""
    rows = re.findall(r'^TRIVET_\w+\(0x[0-9a-f]+, \w+, "(\w+)"', OPS.read_text(), re.MULTILINE)
    return set(rows)


def headed_names() -> list[str]:
    """The names in the third-level headings, which list the ops they are about."""
    headings = re.findall(r"^### (.+)$", SEMANTICS.read_text(), re.MULTILINE)
    return [name for heading in headings for name in heading.split(", ")]


def test_every_op_has_one_heading() -> None:
    names = headed_names()
    assert len(op_texts()) > 150
    assert op_texts() - set(names) == set(), "ops that docs/semantics.md does not describe"
    assert set(names) - op_texts() == set(), "headings of docs/semantics.md that are no ops"
    assert len(names) == len(set(names)), "ops described twice"


def test_links_within_lead_somewhere() -> None:
    text = SEMANTICS.read_text()
    anchors = {
        re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors
