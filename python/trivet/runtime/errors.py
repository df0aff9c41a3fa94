"""Errors that autotuning and launches know by name."""

from __future__ import annotations

from typing import Any

from ..errors import TritonError, TrivetError


class AutotunerError(TrivetError):
    """No configuration could be chosen."""

    def __str__(self) -> str:
        return f"Autotuner error: {super().__str__()}"


class OutOfResources(TrivetError):
    """A launch asked for more of a hardware resource than there is."""

    def __init__(self, required: Any, limit: Any, name: str) -> None:
        self.required, self.limit, self.name = required, limit, name
        super().__init__(
            f"out of resource: {name}, required: {required}, hardware limit: {limit}; reduce block sizes or num_stages"
        )

    def __reduce__(self) -> Any:
        return type(self), (self.required, self.limit, self.name)


class PTXASError(TrivetError):
    """Machine code could not be made from PTX."""


# Triton's interpreter wraps what goes wrong inside it in this class. Here it stands for all errors of Trivet.
InterpreterError = TrivetError

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError", "TritonError"]
