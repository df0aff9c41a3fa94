"""Damaged bytecode files: exit code 1 and a line that says where, never a signal, a traceback or a wrong answer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from damaged_bytecode import GOLDEN, OFFSET, complaint, damaged, sealed
from trivet import _trivet, cli

IDS = [f"{path.parent.name}-{path.stem}" for path in GOLDEN]


@pytest.mark.parametrize("good", GOLDEN, ids=IDS)
def test_sealing_a_good_file_changes_nothing(good: Path) -> None:
    """Else the damage would be found by its checksum alone."""
    assert sealed(good.read_bytes()) == good.read_bytes()


@pytest.mark.parametrize("good", GOLDEN, ids=IDS)
def test_every_prefix_of_a_file_is_refused(good: Path) -> None:
    """Truncation at every byte, or at a thousand of them."""
    content = good.read_bytes()
    for length in range(0, len(content), 1 + len(content) // 1000):
        with pytest.raises((ValueError, RuntimeError), match=OFFSET):
            _trivet.read(content[:length])


@pytest.mark.parametrize("good", GOLDEN, ids=IDS)
def test_what_is_read_is_legal_or_an_error_with_an_offset(good: Path) -> None:
    """A module that reads can be written and printed."""
    num_legal = 0
    for damage in damaged(good.read_bytes(), 3000):
        try:
            module = _trivet.read(damage.content)
        except (ValueError, RuntimeError) as error:
            assert OFFSET.match(str(error)), f"{damage.what}: {error}"
            continue
        assert damage.is_sealed, damage.what
        assert _trivet.read(module.to_bytes()).to_text() == module.to_text(), damage.what
        num_legal += 1
    assert num_legal < 1500


@pytest.mark.parametrize("command", ["verify", "dis", "run"])
@pytest.mark.parametrize("good", GOLDEN, ids=IDS)
def test_commands_say_what_is_wrong(
    good: Path, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python command line, in this process."""
    path = tmp_path / "damaged.tvbc"
    for damage in damaged(good.read_bytes(), 100, seed=1):
        path.write_bytes(damage.content)
        code = cli.main([command, str(path)])
        message = capsys.readouterr().err
        assert not complaint(damage, code, message), f"{damage.what}: {message}"


@pytest.mark.parametrize("name", ["trivet-dis", "trivet-run"])
@pytest.mark.parametrize("good", GOLDEN, ids=IDS)
def test_tools_say_what_is_wrong(good: Path, name: str, tmp_path: Path) -> None:
    """The programs in C++, which would die of a signal."""
    tool = shutil.which(name) or str(ROOT / "build" / "release" / "bin" / name)
    if not Path(tool).exists():
        pytest.skip(f"{name} is not built")
    path = tmp_path / "damaged.tvbc"
    for damage in damaged(good.read_bytes(), 50, seed=2):
        path.write_bytes(damage.content)
        done = subprocess.run([tool, str(path)], capture_output=True, text=True, timeout=60, check=False)
        assert not complaint(damage, done.returncode, done.stderr), f"{damage.what}: {done.stderr}"
