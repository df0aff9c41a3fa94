"""``triton.runtime.interpreter``: names that programs look for. Every kernel runs on Trivet's interpreter; none is a Python function
that imitates one."""

from .errors import InterpreterError


class InterpretedFunction:
    """What Triton's own interpreter makes of a kernel. Here nothing is one."""


__all__ = ["InterpretedFunction", "InterpreterError"]
