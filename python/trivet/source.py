"""Where the source of a kernel comes from: its file, the text given to ``exec``, or a replacement."""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import sys
import types
from typing import Any

from .errors import UnsupportedSourceError

# Compiler flags of `from __future__ import ...`.
_FUTURE_FLAGS = functools.reduce(
    lambda mask, name: mask | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


def text_given_to_exec(fn: Any) -> Any:
    """The text that ``exec`` is running right now, if ``fn`` is defined by it and the caller of ``exec`` holds the text.

    Code made by ``exec`` keeps no source. Templates that are filled in and executed are common enough to look for it: among
    the local variables of exec's caller, the text is the one that compiles to the very code that runs.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename != fn.__code__.co_filename or frame.f_code.co_name != "<module>"
    ):
        frame = frame.f_back
    if frame is None or frame.f_back is None:
        return None
    for value in frame.f_back.f_locals.values():
        if isinstance(value, str) and f"def {fn.__name__}" in value:
            for flags in (0, frame.f_code.co_flags & _FUTURE_FLAGS):
                try:
                    code = compile(value, fn.__code__.co_filename, "exec", flags, dont_inherit=True)
                except (SyntaxError, ValueError):
                    continue
                if code == frame.f_code:
                    return value
    return None


def _no_source(fn: Any, reason: Any) -> Any:
    return UnsupportedSourceError(
        f"the source of {fn.__name__}() can't be read: a kernel must be defined in a file, not typed into a prompt "
        f"or made by exec ({reason})"
    )


def _parse_block(text: str) -> ast.stmt:
    """The first statement of ``text``, which may stand inside something: its indentation stays, since comments and strings
    need not share it."""
    if text[:1] not in (" ", "\t"):
        return ast.parse(text).body[0]
    outer = ast.parse("if True:\n" + text).body[0]
    assert isinstance(outer, ast.If)
    node = outer.body[0]
    ast.increment_lineno(node, -1)
    return node


def read_function(fn: Any, override: str | None = None, exec_text: str | None = None) -> Any:
    """The syntax tree of a Python function.

    Args:
        fn: the function.
        override: text to take instead of its own, from ``def`` on.
        exec_text: what ``text_given_to_exec`` found when the function was decorated.

    Returns:
        ``(ast.FunctionDef, file, source lines, number of the first line, columns cut from the left)``.

    Raises:
        UnsupportedSourceError: there is no source, or it is not a function definition.
    """
    if override is not None:
        lines = override.split("\n")
        return ast.parse(override).body[0], fn.__code__.co_filename, lines, fn.__code__.co_firstlineno, 0
    try:
        if exec_text is not None:
            first = fn.__code__.co_firstlineno
            lines = inspect.getblock(exec_text.splitlines(keepends=True)[first - 1 :])
        else:
            lines, first = inspect.getsourcelines(fn)
    except (OSError, TypeError) as error:
        raise _no_source(fn, error) from None
    lines = [line.rstrip("\n") for line in lines]
    text = "\n".join(lines)
    try:
        node = _parse_block(text)
    except SyntaxError as error:
        raise _no_source(fn, error) from None
    # From Python 3.13 on, "<string>" may stand for the text of `python -c` as well as for what exec runs.
    if fn.__code__.co_filename.startswith("<") and getattr(node, "name", None) != fn.__name__:
        raise _no_source(fn, f"{fn.__code__.co_filename} holds something else")
    if not isinstance(node, ast.FunctionDef):
        raise UnsupportedSourceError(
            f"{fn.__name__}: @jit expects a function made by 'def', found {type(node).__name__}"
        )
    return node, fn.__code__.co_filename, lines, first, 0
