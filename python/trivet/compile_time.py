"""Functions that kernels call while they are compiled, and marks on functions that the frontend reads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .interface import JITCallable
from .language import core


class ConstexprFunction(JITCallable):
    """A Python function that kernels may call with compile-time values; made by ``@constexpr_function``."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method of an aggregate takes the aggregate first."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def unwrap(value: Any) -> Any:
            if isinstance(value, core.constexpr):
                return value.value
            return value

        return self.fn(*map(unwrap, args), **{k: unwrap(v) for k, v in kwargs.items()})

    def __repr__(self) -> str:
        return f"ConstexprFunction({self.fn.__module__}:{self.fn.__qualname__})"


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Lets kernels call ``fn`` while they are compiled; arguments and result are compile-time values."""
    return ConstexprFunction(fn)


def must_use_result(words: Any, is_used: bool = True) -> Any:
    """Makes it an error for a kernel to call the decorated function as a statement, dropping what it gives.

    Use as ``@must_use_result`` or ``@must_use_result("words to add to the message")``, above ``@jit`` or ``@constexpr_function``.
    ``is_used=False`` takes the mark away.
    """

    def decorate(fn: Any, text: str = "") -> Any:
        fn._must_use_result = text if is_used else None
        return fn

    if isinstance(words, str):
        return lambda fn: decorate(fn, words)
    return decorate(words)
