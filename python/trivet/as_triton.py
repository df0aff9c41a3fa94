"""Makes ``import triton`` mean Trivet: for a script, a program, or a test run.

``trivet.as_triton()`` from code, before the first ``import triton``; ``trivet run script.py`` on the command line;
``pytest -p trivet.as_triton`` for a test run. Works whether Triton is installed or not.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import Any


class _Loader(importlib.abc.Loader):
    """Gives the module of Trivet that stands for a module of Triton."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def create_module(self, spec: Any) -> Any:
        module = importlib.import_module(self._target)
        # The import machinery writes into the module's spec; it has to stay the module's own.
        self._spec, self._loader = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module: Any) -> None:
        module.__spec__, module.__loader__ = self._spec, self._loader


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Any = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "triton" and not name.startswith("triton."):
            return None
        own = "trivet" + name[len("triton") :]
        try:
            found = importlib.util.find_spec(own)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return None  # of Triton alone: an ImportError that names it, or the installed Triton's
        return importlib.machinery.ModuleSpec(
            name, _Loader(own), is_package=found.submodule_search_locations is not None
        )


_finder = _Finder()


def activate(for_children: bool = False) -> types.ModuleType:
    """From now on ``import triton`` and its submodules give Trivet's. Doing it twice does no harm.

    Args:
        for_children: also in Python processes that this one starts (through PYTHONPATH, and sys.path, which multiprocessing
            hands on).
    """
    import trivet

    if for_children:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in")
        inherited = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != folder]
        if folder not in sys.path:
            sys.path.insert(1, folder)  # where Python puts what PYTHONPATH says
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, *inherited])

    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    for name in [n for n in sys.modules if n == "triton" or n.startswith("triton.")]:
        del sys.modules[name]
    for name, module in list(sys.modules.items()):
        if name == "trivet" or name.startswith("trivet."):
            sys.modules["triton" + name[len("trivet") :]] = module
    return trivet


def pytest_load_initial_conftests(early_config: Any, parser: Any, args: Any) -> None:
    """Hook of pytest: runs before any conftest.py is imported."""
    activate(for_children=True)


class _CallableModule(types.ModuleType):
    def __call__(self) -> Any:
        return activate()


sys.modules[__name__].__class__ = _CallableModule
