"""The table of options: what the environment says, how it is read, and what is wrong."""

import os
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet import knobs, triton_knobs

ROOT = pathlib.Path(__file__).parents[2]


@triton.jit
def _fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 7)


def test_every_option_has_a_name_and_a_valid_default():
    assert len({option.name for option in knobs.OPTIONS.values()}) == len(knobs.OPTIONS)
    for option in knobs.OPTIONS.values():
        option.value_of(option.default)
        assert option.name in dir(knobs.settings())


def test_settings_of_groups_come_from_the_table():
    for group in (knobs.runtime, knobs.cache, knobs.compilation, knobs.autotuning, knobs.language):
        for name, setting in vars(type(group)).items():
            if isinstance(setting, triton_knobs._Setting) and setting.variable:
                assert setting.variable in knobs.OPTIONS, name


def test_the_environment_is_read_when_it_is_used(monkeypatch):
    before = knobs.settings()
    assert knobs.settings() is before and before.max_steps == 0
    monkeypatch.setenv("TRIVET_MAX_STEPS", "2")
    assert knobs.settings().max_steps == 2 and knobs.launch().max_steps == 2
    monkeypatch.delenv("TRIVET_MAX_STEPS")
    assert knobs.launch().max_steps == 0


@pytest.mark.parametrize(
    "variable, text, message",
    [
        (
            "TRIVET_SCHEDULE",
            "sideways",
            "TRIVET_SCHEDULE must be threads, in_order, random or round_robin, found 'sideways'",
        ),
        ("TRIVET_THREADS", "-1", "TRIVET_THREADS must be an integer that is not negative, found '-1'"),
        ("TRIVET_SEED", "some", "TRIVET_SEED must be an integer that is not negative, found 'some'"),
        ("TRIVET_PORTABLE", "yes", "TRIVET_PORTABLE must be off, warn or error, found 'yes'"),
        (
            "TRIVET_DOT_PRECISION",
            "fp8",
            "TRIVET_DOT_PRECISION must be tf32, tf32x3, ieee, bf16x3 or bf16x6, found 'fp8'",
        ),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch, variable, text, message):
    monkeypatch.setenv(variable, text)
    with pytest.raises(ValueError, match=re.escape(message)):
        _fill[(1,)](np.zeros(4, np.int32), 4)


def test_bytes_that_are_no_text(monkeypatch):
    monkeypatch.setenv("TRIVET_TARGET", os.fsdecode(b"cuda:\xff"))
    assert knobs.target() == ("cuda", os.fsdecode(b"\xff"))


def _import(**environment):
    package = str(pathlib.Path(triton.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": package, **environment}
    return subprocess.run(
        [sys.executable, "-c", "import trivet"], env=env, capture_output=True, text=True, check=True
    ).stderr


def test_unknown_variables_are_warned_of():
    assert "Trivet knows no environment variable TRIVET_SCHEDUL; did you mean TRIVET_SCHEDULE?" in _import(
        TRIVET_SCHEDUL="random"
    )
    assert "TRIVET_ZZZ; docs/options.md lists those that it obeys" in _import(TRIVET_ZZZ="1")
    assert _import(TRIVET_SCHEDULE="random", TRITON_ZZZ="1") == ""


def test_the_document_is_up_to_date():
    """As far as Python sees the table; `./dev docs --check` compares all of it."""
    text = (ROOT / "docs" / "options.md").read_text()
    rows = re.findall(r"^\| `(TRI\w+)` \| .* \| (.*) \|$", text, re.MULTILINE)
    assert rows == [(option.variable, option.doc) for option in knobs.OPTIONS.values()]


def test_the_code_reads_no_variable_that_is_not_in_the_table():
    read = re.compile(r"(?:getenv|FromEnvironment|environ(?:\.get)?)\W{1,2}\"(TRIVET_\w+)\"")
    for folder in ("vm", "frontend", "jit", "python"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cc", ".h", ".py") and path.is_file():
                unknown = set(read.findall(path.read_text())) - set(knobs.OPTIONS)
                assert not unknown, path


def test_no_warning_here():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        knobs._warn_of_unknown_variables()
