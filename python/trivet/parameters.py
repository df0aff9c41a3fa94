"""The parameters of a ``@jit`` function: kind, annotation, default."""

from __future__ import annotations

import inspect
from typing import Any

from . import signatures
from .language import core


class KernelParam:
    """One parameter of a ``@jit`` function.

    Attributes:
        num, name, annotation: position, name, and the annotation as text ('' without one).
        is_constexpr: whether it is a compile-time value.
        is_const: whether it is a pointer that the kernel only reads through.
        annotation_type: name of the element type that the annotation names, or ''.
    """

    def __init__(
        self,
        number: int,
        parameter: inspect.Parameter,
        annotation: Any,
        do_not_specialize: bool,
        do_not_specialize_on_alignment: bool = False,
    ) -> None:
        self.num = number
        self._parameter = parameter
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        self.name = parameter.name
        self.annotation: str = (
            annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        )
        if annotation is inspect.Parameter.empty:
            self.annotation = ""
        self.is_constexpr = annotation is core.constexpr or "constexpr" in self.annotation
        self.is_const = self.annotation.rsplit(".", 1)[-1] == "const" or self.annotation.startswith("*k")
        self.annotation_type = "" if self.is_constexpr else _annotated_dtype(annotation)

    @property
    def default(self) -> Any:
        return self._parameter.default

    @property
    def has_default(self) -> bool:
        return self._parameter.default is not inspect.Parameter.empty

    @property
    def is_variadic(self) -> bool:
        return self._parameter.kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def is_keyword_only(self) -> bool:
        return self._parameter.kind is inspect.Parameter.KEYWORD_ONLY


def _annotated_dtype(annotation: Any) -> str:
    """Name of the element type that a parameter is annotated with, or ''."""
    if isinstance(annotation, core.dtype) and not annotation.is_ptr():
        return annotation.name
    if isinstance(annotation, str):
        text = annotation.rsplit(".", 1)[-1]
        found = getattr(core, text, None)
        if isinstance(found, core.dtype):
            return found.name
        try:
            return signatures.parse_type(text).name
        except ValueError:
            return ""
    return ""


def parameters_of(
    fn: Any, signature: inspect.Signature, dont: set[int | str], not_aligned: set[int | str]
) -> list[KernelParam]:
    """The parameters of ``fn``; the sets hold names and positions of those that are not to be specialised (on alignment)."""
    return [
        KernelParam(
            number,
            parameter,
            fn.__annotations__.get(parameter.name, parameter.annotation),
            not dont.isdisjoint((number, parameter.name)),
            not not_aligned.isdisjoint((number, parameter.name)),
        )
        for number, parameter in enumerate(signature.parameters.values())
    ]
