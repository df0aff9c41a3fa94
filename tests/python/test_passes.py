"""The optimiser's passes on real kernels: after each prefix of the pipeline an example gives the same bits on the interpreter."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from trivet import _trivet, knobs
from trivet.jit import JITFunction

sys.path.insert(0, str(ROOT / "examples"))

import demo

MAKERS = [
    pytest.param(example, variant, id=name)
    for example in demo.EXAMPLES
    for name, variant in importlib.import_module(example).VARIANTS.items()
]


def opt(*arguments: object, stdin: str | None = None) -> str:
    """What trivet-opt prints; skip the test where it is not built."""
    path = shutil.which("trivet-opt") or str(ROOT / "build" / "release" / "bin" / "trivet-opt")
    if not Path(path).exists():
        pytest.skip("trivet-opt is not built")
    command = [path, *map(str, arguments)]
    result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def bytes_of(tensor: Any) -> bytes:
    """The raw contents of a tensor."""
    return np.ascontiguousarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor).tobytes()


@pytest.fixture
def change_modules(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], str]], None]:
    """Makes every kernel compile anew, through a function from text to text."""
    compile_module = _trivet.compile

    def install(change: Callable[[str], str]) -> None:
        def compile_and_change(*args: Any, **kwargs: Any) -> Any:
            module, diagnostics, used = compile_module(*args, **kwargs)
            return module and _trivet.parse(change(module.to_text(True)), "changed.tvt"), diagnostics, used

        def without_cache(self: Any, arguments: Any, _values: Any, options: Any, _is_warmup: bool) -> Any:
            return self._compile(arguments, options, knobs.compile_knobs())

        monkeypatch.setattr(_trivet, "compile", compile_and_change)
        monkeypatch.setattr(JITFunction, "_compiled", without_cache)

    return install


@pytest.mark.parametrize(("example", "variant"), MAKERS)
def test_examples_keep_their_bits(example: str, variant: dict[str, Any], change_modules: Any) -> None:
    """Each prefix of the default pipeline, on every kernel of the example."""
    num_passes = len(opt("--list").split())
    assert num_passes > 5
    work = importlib.import_module(example).make(**variant)
    expected = [bytes_of(output) for output in work.run()]
    seen: set[str] = set()

    def optimise(text: str, count: int) -> str:
        out = opt("-", f"--bisect={count}", "--loc", stdin=text)
        seen.add(out)
        return out

    for count in range(1, num_passes + 1):
        change_modules(lambda text, count=count: optimise(text, count))
        assert [bytes_of(output) for output in work.run()] == expected, f"after {count} passes"
    assert seen, "nothing was compiled"


def test_documentation_is_current() -> None:
    """docs/passes.md is what trivet-opt prints of its table."""
    assert (ROOT / "docs" / "passes.md").read_text() == opt("--markdown")


def test_dumps_can_be_read_again(tmp_path: Path) -> None:
    """--dump-after prints legal text, from which the rest of the pipeline goes on to the same end."""
    source = (ROOT / "tests" / "bytecode" / "text" / "add.tvt").read_text()
    whole = opt("-", "--passes=canonicalise,cse,dce", stdin=source)
    (tmp_path / "half.tvt").write_text(opt("-", "--passes=canonicalise,cse,dce", "--stop-after=cse", stdin=source))
    assert opt(tmp_path / "half.tvt", "--passes=dce") == whole
    dumped = opt("-", "--passes=cse,cse", "--dump-after=all", stdin=source)
    assert "; after cse (pass 2 of 2): no change\n" in dumped


def test_facts_and_analysis(tmp_path: Path) -> None:
    """Facts about arguments reach the analyses; unknown parameters and passes are errors with a reason."""
    source = tmp_path / "k.tvt"
    source.write_text("kernel @k(%p: ptr<f32>, %n: i32) {\n  %m = muli %n, %n : i32\n  return\n}\n")
    text = opt(source, "--analysis", "--facts=p:16,n:4")
    assert "%p: ptr<f32>  contiguity 1, divisibility 16, constancy 1\n" in text
    assert "%m: i32  contiguity 1, divisibility 16, constancy 1, range " in text
    path = shutil.which("trivet-opt") or str(ROOT / "build" / "release" / "bin" / "trivet-opt")
    for arguments, code, message in [
        (["--facts=q:16"], 1, "no kernel has a parameter 'q'"),
        (["--passes=frob"], 1, "no pass is called 'frob'"),
        (["--frob"], 2, "option --frob is not known"),
    ]:
        result = subprocess.run([path, str(source), *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == code
        assert message in result.stderr
