"""Pickles kernels and other things that belong to a module by where they are found, as Python pickles functions and classes.

What is found at a name may wrap what is pickled (``@autotune`` over ``@jit``): the number of steps along ``.fn`` is part of it.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from typing import Any


class PickledByName:
    """Base of objects that are pickled by name, and that copying leaves as they are, like Python's functions.

    Needs ``__module__`` and ``__qualname__``, or ``fn`` that has them.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _find, _place_of(self)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


def _innermost(value: Any) -> Any:
    while hasattr(value, "fn"):
        value = value.fn
    return value


def _steps_to(value: Any, wanted: Any) -> int | None:
    """How often ``.fn`` leads from ``value`` to ``wanted``; None if it doesn't."""
    steps = 0
    while value is not wanted:
        if not isinstance(value, PickledByName) or not hasattr(value, "fn"):
            return None
        value = value.fn
        steps += 1
    return steps


def _resolve(module: Any, path: str) -> Any:
    value = module
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def _place_of(wanted: Any) -> tuple[str, str, int]:
    """(module, path in it, steps along ``.fn``) of an object.

    Raises:
        pickle.PicklingError: it can't be found in its module.
    """
    function = _innermost(wanted)
    module_name, path = function.__module__, function.__qualname__
    module = sys.modules.get(module_name)
    if module is not None:
        steps = _steps_to(_resolve(module, path), wanted)
        if steps is not None:
            return module_name, path, steps
        for name, value in list(vars(module).items()):  # `kernel = jit(function)`
            steps = _steps_to(value, wanted)
            if steps is not None:
                return module_name, name, steps
    kind = type(wanted).__name__
    if "<locals>" in path:
        raise pickle.PicklingError(
            f"can't pickle {kind} {path}: it is defined inside a function, and can't be found by name"
        )
    raise pickle.PicklingError(f"can't pickle {kind} {module_name}.{path}: it is not what this name stands for")


def _find(module_name: str, path: str, steps: int) -> Any:
    value = _resolve(importlib.import_module(module_name), path)
    for _ in range(steps):
        value = value.fn
    return value
