"""Programs that are larger than anything sensible: an error that says so, never a crash."""

import importlib.util

import numpy as np
import pytest

import trivet as triton

HEAD = "import trivet as triton\nimport trivet.language as tl\n"


def load(folder, text):
    path = folder / "generated.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launch(module, *arguments):
    out = np.zeros(1, np.int32)
    module.kernel[(1,)](out, *arguments)
    return out[0]


def sum_of(n):
    return f"@triton.jit\ndef kernel(o, x):\n    tl.store(o, {' + '.join(['x'] * n)})\n"


def test_long_expression(tmp_path):
    assert launch(load(tmp_path, sum_of(450)), 2) == 900


def test_too_long_expression(tmp_path):
    with pytest.raises(triton.CompilationError, match="nested more than 500 deep") as error:
        launch(load(tmp_path, sum_of(900)), 2)
    assert all(len(line) < 260 for line in str(error.value).splitlines())


def chain_of(n):
    helpers = "".join(f"@triton.jit\ndef f{i}(x):\n    return {f'f{i - 1}(x) + 1' if i else 'x'}\n" for i in range(n))
    return helpers + f"@triton.jit\ndef kernel(o, x):\n    tl.store(o, f{n - 1}(x))\n"


def test_chain_of_helpers(tmp_path):
    assert launch(load(tmp_path, chain_of(80)), 1) == 80


def test_too_long_chain_of_helpers(tmp_path):
    with pytest.raises(triton.CompilationError, match="calls nest too deeply"):
        launch(load(tmp_path, chain_of(300)), 1)


def test_many_statements(tmp_path):
    body = "".join(f"    v{i} = x + {i}\n    t = t + v{i}\n" for i in range(3000))
    assert (
        launch(load(tmp_path, f"@triton.jit\ndef kernel(o, x):\n    t = x\n{body}    tl.store(o, t)\n"), 0)
        == 2999 * 1500
    )


def test_many_parameters(tmp_path):
    names = [f"p{i}" for i in range(300)]
    module = load(tmp_path, f"@triton.jit\ndef kernel(o, {', '.join(names)}):\n    tl.store(o, {' + '.join(names)})\n")
    assert launch(module, *range(300)) == sum(range(300))


def doubling(n, result, argument="x", call="f{last}(x)"):
    """n helpers, each of which calls the one before it twice; run, the last would take 2^n steps."""
    helpers = "".join(
        f"@triton.jit\ndef f{i}({argument}):\n    return {f'f{i - 1}({argument}) + f{i - 1}({argument})' if i else result}\n"
        for i in range(n)
    )
    kernel = f"@triton.jit\ndef kernel(o, n, x):\n    if n == 1:\n        tl.store(o, {call.format(last=n - 1)})\n"
    return helpers + kernel


@pytest.mark.parametrize(
    "text",
    [
        doubling(40, "x + 1"),
        doubling(40, "x + 1", call="f{last}(1)"),
        doubling(40, "x + y", "x, y", "tl.reduce(tl.arange(0, 4) + x, 0, f{last})"),
        doubling(40, "x + 1", call="tl.sum(tl.map_elementwise(f{last}, tl.arange(0, 4) + x))"),
    ],
    ids=["of run-time values", "of constants", "reduce", "map_elementwise"],
)
def test_helpers_that_call_others_twice_compile_once_each(tmp_path, text):
    """2^40 calls in the call tree, 40 functions in the module (a combine function itself may be inlined)."""
    module = load(tmp_path, text)
    compiled = module.kernel.warmup(np.zeros(1, np.int32), 2, 3, grid=(1,))
    assert 39 <= compiled.asm["tvt"].count("func @f") <= 40
    if "reduce" not in text and "map_elementwise" not in text:  # the interpreter inlines those, up to a limit
        assert launch(module, 2, 3) == 0
