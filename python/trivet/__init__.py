"""Trivet runs Triton kernels: ``import trivet as triton``."""

from . import _trivet, language  # language comes first: its library is made of @jit functions
from . import errors, knobs  # isort: skip
from . import jit as _jit_module  # isort: skip
from .jit import CompiledKernel, ConstexprFunction, JITFunction, KernelParam, constexpr_function, jit  # isort: skip

__version__ = "0.1.0"


def _register():
    from .language import core

    _trivet.register_classes(
        {
            "constexpr": core.constexpr,
            "dtype": core.dtype,
            "pointer_type": core.pointer_type,
            "block_type": core.block_type,
            "Builtin": core.Builtin,
            "JITFunction": JITFunction,
            "ConstexprFunction": ConstexprFunction,
            "python_functions": _jit_module._PYTHON_FUNCTIONS,
            "language": language,
        }
    )


_register()


from . import as_triton  # noqa: E402  (a module that can be called)


def cdiv(x, y):
    """``x / y`` rounded up, for non-negative integers."""
    return (x + y - 1) // y


def next_power_of_2(n):
    """The least power of 2 that is not less than ``n``; 1 for ``n <= 1``."""
    return 1 if n <= 1 else 1 << (int(n) - 1).bit_length()


cdiv.__trivet_kernel__ = language.cdiv  # inside a kernel, triton.cdiv is tl.cdiv
next_power_of_2.__trivet_kernel__ = constexpr_function(lambda n: 1 if n <= 1 else 1 << (int(n) - 1).bit_length())

__all__ = ["CompiledKernel", "JITFunction", "KernelParam", "as_triton", "cdiv", "constexpr_function", "errors", "jit", "knobs", "language",
           "next_power_of_2"]  # fmt: skip
