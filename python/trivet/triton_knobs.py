"""The settings that programs written for Triton read and set: ``knobs.runtime.debug``, ``knobs.cache.dir``, ….

A setting is what was assigned to it, else its environment variable, else its default. ``with knobs.cache.scope():`` undoes
assignments at its end. Settings of Triton's own compiler and of GPUs are absent: reading one is an ``AttributeError``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from . import _trivet


def _boolean(text: str) -> bool:
    return text.lower() in ("1", "true", "yes", "on")


def _users_cache() -> Any:
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trivet")


class _Setting:
    """One setting of a group: a descriptor over the group's own dictionary, the environment and a default."""

    def __init__(self, variable: str | None = None, default: Any = None, parse: Any = str, compute: Any = None) -> None:
        self.variable, self.default, self.parse, self.compute = variable, default, parse, compute

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, group: Any, owner: Any = None) -> Any:
        if group is None:
            return self
        if self.name in vars(group):
            return vars(group)[self.name]
        text = _trivet.option_texts()[self.variable] if self.variable else ""
        if text:
            return self.parse(text)
        return self.compute() if self.compute else self.default

    def __set__(self, group: Any, value: Any) -> None:
        vars(group)[self.name] = value

    def __delete__(self, group: Any) -> None:
        vars(group).pop(self.name, None)


class Group:
    """Settings that belong together."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), _Setting):
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}")
        super().__setattr__(name, value)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Assignments within the block end with it."""
        before = dict(vars(self))
        try:
            yield self
        finally:
            vars(self).clear()
            vars(self).update(before)

    def reset(self) -> Any:
        """Forgets all assignments."""
        vars(self).clear()
        return self

    def copy(self) -> Any:
        """A group with the same assignments."""
        other = type(self)()
        vars(other).update(vars(self))
        return other


class HookChain:
    """Functions called one after another with the same arguments."""

    def __init__(self, reverse: bool = False) -> None:
        self.calls: list[Callable[..., Any]] = []
        self.reverse = reverse

    def add(self, function: Callable[..., Any]) -> None:
        """Appends ``function`` unless it is there."""
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function: Callable[..., Any]) -> None:
        """Removes ``function`` if it is there."""
        if function in self.calls:
            self.calls.remove(function)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in reversed(self.calls) if self.reverse else list(self.calls):
            call(*args, **kwargs)


class Runtime(Group):
    """Hooks around compilation and launches.

    * ``launch_enter_hook``, ``launch_exit_hook``: chains, called with the launch's ``LaunchMetadata``.
    * ``kernel_load_start_hook``, ``kernel_load_end_hook``: chains, called with ``(module, function, name, metadata_group, hash)``
      before a compiled kernel's first launch.
    * ``jit_cache_hook``, ``jit_post_compile_hook``: a function or None, called with keywords ``key, repr, fn, compile,
      is_manual_warmup, already_compiled`` before and after a compilation. A true answer of the first cancels the launch.
    """

    launch_enter_hook = _Setting(default=HookChain())
    launch_exit_hook = _Setting(default=HookChain(reverse=True))
    kernel_load_start_hook = _Setting(default=HookChain())
    kernel_load_end_hook = _Setting(default=HookChain(reverse=True))
    jit_cache_hook = _Setting()
    jit_post_compile_hook = _Setting()
    debug = _Setting("TRITON_DEBUG", False, _boolean)
    interpret = _Setting("TRITON_INTERPRET", False, _boolean)
    override_arch = _Setting("TRITON_OVERRIDE_ARCH")


class Cache(Group):
    """Where results are kept on disk."""

    home_dir = _Setting("TRITON_HOME", compute=lambda: os.path.expanduser("~"))
    dir = _Setting("TRIVET_CACHE_DIR", compute=_users_cache)


class Compilation(Group):
    """How kernels are compiled."""

    always_compile = _Setting("TRITON_ALWAYS_COMPILE", False, _boolean)
    allow_non_constexpr_globals = _Setting("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", False, _boolean)
    disable_line_info = _Setting("TRITON_DISABLE_LINE_INFO", False, _boolean)


class Autotuning(Group):
    """How ``autotune`` works: whether results are kept on disk where a kernel doesn't say, and printed."""

    cache = _Setting("TRITON_CACHE_AUTOTUNING", False, _boolean)
    print = _Setting("TRITON_PRINT_AUTOTUNING", False, _boolean)


class Language(Group):
    """Defaults of the language."""

    fp32_default = _Setting("TRITON_F32_DEFAULT")


runtime = Runtime()
cache = Cache()
compilation = Compilation()
autotuning = Autotuning()
language = Language()


class LaunchMetadata:
    """What hooks of a launch are told: ``get()`` gives a dictionary with ``name`` and what the kernel's ``launch_metadata`` adds."""

    def __init__(self, kernel: Any, grid: Any, arguments: Any) -> None:
        self._kernel, self._grid, self._arguments = kernel, grid, arguments

    def get(self) -> Any:
        data = {"name": self._kernel.name, "function": None, "stream": 0}
        add = self._kernel.function.launch_metadata
        if add is not None:
            data.update(add(self._grid, self._kernel.metadata, self._arguments))
        return data
