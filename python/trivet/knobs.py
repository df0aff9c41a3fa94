"""Settings that come from the environment, each read when it is used.

=====================  ==========================================================================================
variable               meaning
=====================  ==========================================================================================
TRIVET_SCHEDULE        threads (default), in_order, random or round_robin: how programs of a grid take turns
TRIVET_THREADS         threads of the schedule ``threads``; 0 (default): one a core
TRIVET_SEED            seed of the schedule ``random``
TRIVET_MAX_STEPS       ops a launch may run before it is stopped; 0 (default): no limit
TRIVET_PORTABLE        warn or error: name each use of something that Triton does not allow (docs/extensions.md)
TRIVET_BENCH_POINTS    points that a benchmark of ``testing.perf_report`` measures at most, the first of each; default: all
TRIVET_TARGET          BACKEND:ARCH, such as ``cuda:90``: what ``get_current_target()`` answers, for programs that refuse others
TRIVET_DOT_PRECISION   input precision of ``tl.dot`` on f32 where a kernel names none: tf32 (default), ieee, tf32x3, bf16x3, bf16x6
TRIVET_FALLBACK        error: a launch that its tier refuses fails; log (default): the next tier down runs it
TRIVET_PLAIN_GLOBALS   1: kernels may read globals that are not ``tl.constexpr``
=====================  ==========================================================================================

The groups ``runtime``, ``cache``, … hold what programs written for Triton set from Python.
"""

import os
from dataclasses import dataclass

from .triton_knobs import HookChain, LaunchMetadata, autotuning, cache, compilation, language, runtime

__all__ = ["HookChain", "LaunchKnobs", "LaunchMetadata", "autotuning", "bench_points", "cache", "compilation", "dot_precision", "fallback",
           "language", "launch", "plain_globals", "portable", "runtime", "target"]  # fmt: skip


def _integer(name, default):
    text = os.environ.get(name, "")
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{name} must be an integer, found {text!r}") from None
    if value < 0:
        raise ValueError(f"{name} must not be negative, found {value}")
    return value


@dataclass(frozen=True)
class LaunchKnobs:
    """How the interpreter runs a launch."""

    schedule: str
    threads: int
    seed: int
    max_steps: int


def launch():
    """The settings for a launch, from the environment as it is now."""
    return LaunchKnobs(
        schedule=os.environ.get("TRIVET_SCHEDULE") or "threads",
        threads=_integer("TRIVET_THREADS", 0),
        seed=_integer("TRIVET_SEED", 0),
        max_steps=_integer("TRIVET_MAX_STEPS", 0),
    )


def plain_globals():
    """Whether kernels may read globals that are not ``tl.constexpr``."""
    return os.environ.get("TRIVET_PLAIN_GLOBALS") == "1" or compilation.allow_non_constexpr_globals


def bench_points():
    """The most points along the x axis that a benchmark measures; None for all."""
    return _integer("TRIVET_BENCH_POINTS", 0) if os.environ.get("TRIVET_BENCH_POINTS") else None


def target():
    """(backend, architecture) that programs are told of, or None for the truth. Nothing but the answer changes."""
    text = os.environ.get("TRIVET_TARGET")
    if not text:
        return None
    backend, colon, arch = text.partition(":")
    if not backend or not colon or not arch:
        raise ValueError(f"TRIVET_TARGET must be BACKEND:ARCH, such as cuda:90, found {text!r}")
    return backend, int(arch) if arch.isdigit() else arch


def dot_precision():
    """The input precision of ``tl.dot`` on f32 where a kernel names none; None for the language's default."""
    return os.environ.get("TRIVET_DOT_PRECISION") or language.fp32_default or None


def portable():
    """What becomes of extensions: ``"off"`` (allowed in silence), ``"warn"`` or ``"error"``."""
    value = os.environ.get("TRIVET_PORTABLE") or "off"
    if value not in ("off", "warn", "error"):
        raise ValueError(f"TRIVET_PORTABLE must be off, warn or error, found {value!r}")
    return value


def fallback():
    """What becomes of a launch that its tier refuses: ``"log"`` (the next tier runs it) or ``"error"``."""
    value = os.environ.get("TRIVET_FALLBACK") or "log"
    if value not in ("log", "error"):
        raise ValueError(f"TRIVET_FALLBACK must be log or error, found {value!r}")
    return value
