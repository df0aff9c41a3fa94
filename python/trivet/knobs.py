"""Settings that come from the environment. docs/options.md lists them; the table is vm/base/options.def.

``settings()`` gives all of them as they are now. The groups ``runtime``, ``cache``, … hold what programs written for Triton set
from Python.
"""

from __future__ import annotations

import difflib
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _trivet
from .triton_knobs import HookChain, LaunchMetadata, autotuning, cache, compilation, language, runtime

__all__ = ["CompileKnobs", "HookChain", "LaunchKnobs", "LaunchMetadata", "OPTIONS", "Option", "Settings", "autotuning", "bench_points",
           "cache", "compilation", "compile_knobs", "fallback", "language", "launch", "runtime", "settings", "target"]  # fmt: skip


class Option(NamedTuple):
    """A row of the table of options."""

    name: str  # of the attribute of ``settings()``
    variable: str
    type: str  # choice, integer, flag, text
    default: str
    choices: tuple[str, ...]
    doc: str

    def value_of(self, text: str) -> str | int | bool | None:
        """The value that a text stands for; None for an integer without default.

        Raises:
            ValueError: it is none of the choices, or no integer that is not negative.
        """
        if self.type == "integer":
            if text == self.default == "":
                return None
            if not (text.isascii() and text.isdigit()):
                raise ValueError(f"{self.variable} must be an integer that is not negative, found {text!r}")
            return int(text)
        if self.type == "flag":
            return text.lower() in ("1", "true", "yes", "on")
        if self.type == "choice" and text not in self.choices:
            raise ValueError(f"{self.variable} must be {_one_of(self.choices)}, found {text!r}")
        return text


def _one_of(choices: tuple[str, ...]) -> str:
    """``a, b or c``."""
    *most, last = filter(None, choices)
    return f"{', '.join(most)} or {last}"


def _snake_case(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


OPTIONS: dict[str, Option] = {
    variable: Option(_snake_case(name), variable, kind, default, tuple(choices.split("|")) if choices else (), doc)
    for name, variable, kind, default, choices, doc in _trivet.options()
}


class Settings:
    """The values of all options, by name: ``settings().max_steps``. Reading one whose text is wrong raises a ``ValueError``."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def __getattr__(self, name: str) -> Any:
        for option in OPTIONS.values():
            if option.name == name:
                value = option.value_of(self._texts[option.variable])
                setattr(self, name, value)
                return value
        raise AttributeError(f"there is no option {name!r}; docs/options.md lists them")

    def __dir__(self) -> list[str]:
        return [option.name for option in OPTIONS.values()]

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{o.name}={self._texts[o.variable]!r}' for o in OPTIONS.values())})"


_settings = Settings(_trivet.option_texts())


def settings() -> Settings:
    """All options as the environment is now. The same object as long as nothing changes."""
    global _settings
    texts = _trivet.option_texts()
    if texts is not _settings._texts:
        _settings = Settings(texts)
    return _settings


@dataclass(frozen=True)
class LaunchKnobs:
    """How the interpreter runs a launch."""

    schedule: str
    threads: int
    seed: int
    max_steps: int


def launch() -> LaunchKnobs:
    """The settings for a launch on the interpreter."""
    now = settings()
    known = now.__dict__.get("_launch")
    if known is None:
        known = now.__dict__["_launch"] = LaunchKnobs(now.schedule, now.threads, now.seed, now.max_steps)
    return known


class CompileKnobs(NamedTuple):
    """What changes the code of a kernel besides its signature."""

    dot_precision: (
        str | None
    )  # input precision of ``tl.dot`` on f32 where a kernel names none; None for the language's default
    plain_globals: bool  # whether kernels may read globals that are not ``tl.constexpr``
    portable: str  # what becomes of extensions: "off" (allowed in silence), "warn" or "error"


def compile_knobs() -> CompileKnobs:
    """The settings for a compilation."""
    now = settings()
    precision = now.dot_precision or vars(language).get("fp32_default", now.triton_f32_default)
    allows = vars(compilation).get("allow_non_constexpr_globals", now.triton_allow_globals)
    return CompileKnobs(precision or None, now.plain_globals or allows, now.portable)


def bench_points() -> int | None:
    """The most points along the x axis that a benchmark measures; None for all."""
    return settings().bench_points


def target() -> tuple[str, int | str] | None:
    """(backend, architecture) that programs are told of, or None for the truth. Nothing but the answer changes."""
    text = settings().target
    if not text:
        return None
    backend, colon, arch = text.partition(":")
    if not backend or not colon or not arch:
        raise ValueError(f"TRIVET_TARGET must be BACKEND:ARCH, such as cuda:90, found {text!r}")
    return backend, int(arch) if arch.isdigit() else arch


def fallback() -> str:
    """What becomes of a launch that its tier refuses: ``"log"`` (the next tier runs it) or ``"error"``."""
    return settings().fallback


def _warn_of_unknown_variables() -> None:
    for variable in _trivet.unknown_variables():
        near = difflib.get_close_matches(variable, OPTIONS, 1, cutoff=0.8)
        hint = f"did you mean {near[0]}?" if near else "docs/options.md lists those that it obeys"
        warnings.warn(f"Trivet knows no environment variable {variable}; {hint}", stacklevel=2)


_warn_of_unknown_variables()
