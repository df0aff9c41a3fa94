"""The command-line programs in C++: trivet-as, trivet-dis, trivet-run, trivet-ops. Found in PATH, as ./dev sets it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT

TEXTS = sorted((ROOT / "tests" / "bytecode" / "text").glob("*.tvt"))
SCALE = """kernel @scale(%x_ptr: ptr<f32>, %n: i32, %by: f32) {
  %0 = program_id axis=0 : i32
  %1 = cmpi %0, %n predicate=lt : i1
  %2 = addptr %x_ptr, %0
  %x = load %2, %1 : f32
  %y = mulf %x, %by
  store %2, %y, %1
  print %y prefix="y"
  return
}
"""


def tool(name: str, *arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a tool; skip the test where it is not built."""
    path = shutil.which(name) or str(ROOT / "build" / "release" / "bin" / name)
    if not Path(path).exists():
        pytest.skip(f"{name} is not built")
    return subprocess.run(
        [path, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("name", ["trivet-as", "trivet-dis", "trivet-run", "trivet-ops"])
def test_help_and_bad_command_lines(name: str) -> None:
    """--help succeeds and shows the usage; what is unknown or missing is exit code 2 with one line."""
    helped = tool(name, "--help")
    assert helped.returncode == 0
    assert helped.stdout.startswith(f"usage: {name} ")
    for arguments in ([], ["--frobnicate"]):
        bad = tool(name, *arguments)
        assert bad.returncode == 2
        assert bad.stderr.startswith(f"{name}: ")
        assert bad.stderr.count("\n") == 1


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_assembled_text_disassembles_to_itself(text: Path, tmp_path: Path) -> None:
    """trivet-dis --loc inverts trivet-as."""
    assert tool("trivet-as", text, "-o", tmp_path / "x.tvbc").returncode == 0
    back = tool("trivet-dis", tmp_path / "x.tvbc", "--loc")
    assert back.returncode == 0
    assert back.stdout == text.read_text()


def test_locations_are_left_out_by_default_and_stripped(tmp_path: Path) -> None:
    """Without --loc none are printed; --strip writes none."""
    source = ROOT / "tests" / "bytecode" / "text" / "add.tvt"
    tool("trivet-as", source, "-o", tmp_path / "full.tvbc")
    tool("trivet-as", source, "-o", tmp_path / "stripped.tvbc", "--strip")
    assert "loc(" not in tool("trivet-dis", tmp_path / "full.tvbc").stdout
    stripped = tool("trivet-dis", tmp_path / "stripped.tvbc", "--loc").stdout
    assert "loc(" not in stripped
    assert "%offsets" not in stripped
    assert (tmp_path / "stripped.tvbc").stat().st_size < (tmp_path / "full.tvbc").stat().st_size


def test_mistakes_in_text_show_the_place(tmp_path: Path) -> None:
    """Syntax: file, line, column and caret. Types: the verifier's words. Exit code 1, and nothing is written."""
    bad = tmp_path / "bad.tvt"
    bad.write_text("func @f() {\n  frob\n}\n")
    result = tool("trivet-as", bad)
    assert result.returncode == 1
    assert result.stderr == f"{bad}:2:3: error: expected an op, found 'frob'\n    2 |   frob\n      |   ^\n"
    bad.write_text("func @f(%x: i32) -> f32 {\n  return %x\n}\n")
    result = tool("trivet-as", bad)
    assert result.returncode == 1
    assert "i32" in result.stderr
    assert not (tmp_path / "bad.tvbc").exists()


def test_damaged_and_missing_files(tmp_path: Path) -> None:
    """An error that names the file, exit code 1."""
    damaged = tmp_path / "damaged.tvbc"
    damaged.write_bytes(b"not bytecode")
    for name in ("trivet-dis", "trivet-run"):
        result = tool(name, damaged)
        assert result.returncode == 1
        assert "damaged.tvbc" in result.stderr
        missing = tool(name, tmp_path / "missing.tvbc")
        assert missing.returncode == 1
        assert "missing.tvbc" in missing.stderr


def test_run_a_kernel_on_files(tmp_path: Path) -> None:
    """Tensors from .npy, a scalar, output to .npy; the input file keeps its content."""
    (tmp_path / "scale.tvt").write_text(SCALE)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    arguments = ["--arg", tmp_path / "x.npy", "--arg", "4", "--arg", "0.5", "--grid", "6"]
    result = tool("trivet-run", tmp_path / "scale.tvt", *arguments, "--save", f"x_ptr={tmp_path / 'y.npy'}")
    assert result.returncode == 0, result.stderr
    assert "y" in result.stdout
    expected = x.copy().reshape(-1)
    expected[:4] *= 0.5
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected.reshape(2, 3))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x)


@pytest.mark.parametrize("schedule", ["threads", "in_order", "random", "round_robin"])
def test_run_on_new_tensors(schedule: str, tmp_path: Path) -> None:
    """zeros: and ones: make tensors; a parameter can be named by its number."""
    (tmp_path / "scale.tvt").write_text(SCALE)
    arguments = ["--arg", "ones:fp32:2x3", "--arg", "6", "--arg", "-2", "--grid", "3,1,1", "--schedule", schedule]
    result = tool("trivet-run", tmp_path / "scale.tvt", *arguments, "--save", f"0={tmp_path / 'y.npy'}", "--seed", "7")
    assert result.returncode == 0, result.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), [[-2, -2, -2], [1, 1, 1]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arg", "zeros:f32:3"], "scale takes 3 --arg, found 1: x_ptr: ptr<f32>, n: i32, by: f32"),
        (["--arg", "zeros:f16:3", "--arg", "1", "--arg", "1"], "elements of type f16 for a pointer to f32"),
        (["--arg", "7", "--arg", "1", "--arg", "1"], "a tensor is needed"),
        (["--arg", "zeros:f32:3", "--arg", "1.5", "--arg", "1"], "'1.5' is not a literal of type i32"),
        (["--arg", "zeros:f32:3", "--arg", "9", "--arg", "1", "--grid", "4"], "x_ptr"),
        (["--arg", "zeros:f32:3", "--arg", "1", "--arg", "1", "--save", "n=y.npy"], "no such tensor parameter"),
        (["--kernel", "other"], "no kernel 'other'"),
    ],
)
def test_run_says_what_is_wrong(arguments: list[str], message: str, tmp_path: Path) -> None:
    """Arguments that do not fit, and a kernel that leaves its tensor."""
    (tmp_path / "scale.tvt").write_text(SCALE)
    result = tool("trivet-run", tmp_path / "scale.tvt", *arguments)
    assert result.returncode == 1
    assert message in result.stderr


def test_ops_as_json() -> None:
    """The table as programs read it."""
    table = json.loads(tool("trivet-ops", "--json").stdout)
    ops = {op["text"]: op for op in table["ops"]}
    assert [o["name"] for o in ops["load"]["operands"]] == ["ptr", "mask", "other"]
    assert ops["load"]["effects"] == "reads"
    assert ops["if"]["regions"] == 2
    assert table["enums"]["CmpPredicate"]["lt"] == 2
    assert {d["text"]: d["bits"] for d in table["dtypes"]}["bf16"] == 16


def test_names_from_files_dont_reach_the_terminal_raw(tmp_path: Path) -> None:
    """Any bytes are legal in a name: control characters and what is not UTF-8 are escaped in messages."""
    source = tmp_path / "names.tvt"
    source.write_text('kernel @"\\x1b[31m\\x80"(%x: i32) {\n  return\n}\n')
    assert tool("trivet-as", source, "-o", tmp_path / "names.tvbc").returncode == 0
    result = tool("trivet-run", tmp_path / "names.tvbc")
    assert result.returncode == 1
    assert result.stderr == "trivet-run: \\x1b[31m\\x80 takes 1 --arg, found 0: x: i32\n"
