"""Trivet runs Triton kernels: ``import trivet as triton``."""

from . import _trivet, language  # language comes first: its library is made of @jit functions

from . import errors, knobs  # isort: skip
from . import jit as _jit_module  # isort: skip
from . import tiers  # noqa: F401  isort: skip
from .jit import CompiledKernel, ConstexprFunction, JITFunction, KernelParam, constexpr_function, jit, must_use_result  # isort: skip

from .version import TRITON_VERSION, TRIVET_VERSION, __version__  # isort: skip


def _register() -> None:
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
            "python_functions": _jit_module.PYTHON_FUNCTIONS,
            "language": language,
        }
    )


_register()


from . import as_triton, compiler, runtime, testing  # noqa: E402  (as_triton is a module that can be called)
from .compiler import CompilationError, compile  # noqa: E402
from .compiler.errors import CompileTimeAssertionFailure  # noqa: E402
from .errors import TritonError  # noqa: E402
from .runtime import (  # noqa: E402
    AsyncCompileMode,
    Config,
    FutureKernel,
    KernelInterface,
    MockTensor,
    OutOfResources,
    TensorWrapper,
    autotune,
    heuristics,
    reinterpret,
    set_allocator,
)
from .runtime.errors import InterpreterError  # noqa: E402
from .tools.tensor_descriptor import TensorDescriptor  # noqa: E402

aggregate = language.aggregate.aggregate


def cdiv(x: int, y: int) -> int:
    """``x / y`` rounded up, for non-negative integers."""
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """The least power of 2 that is not less than ``n``; 1 for ``n <= 1``."""
    return 1 if n <= 1 else 1 << (int(n) - 1).bit_length()


# Inside a kernel, triton.cdiv is tl.cdiv.
cdiv.__trivet_kernel__ = language.cdiv  # type: ignore[attr-defined]
next_power_of_2.__trivet_kernel__ = constexpr_function(  # type: ignore[attr-defined]
    lambda n: 1 if n <= 1 else 1 << (int(n) - 1).bit_length()
)

__all__ = [
    "AsyncCompileMode", "FutureKernel",     "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel", "Config", "JITFunction", "KernelInterface",
    "KernelParam", "MockTensor", "OutOfResources", "InterpreterError", "TRITON_VERSION", "TRIVET_VERSION", "TritonError", "TensorDescriptor", "TensorWrapper",
    "__version__", "aggregate", "as_triton", "autotune", "cdiv", "compile", "compiler", "constexpr_function", "errors", "heuristics", "jit",
    "knobs", "language", "must_use_result", "next_power_of_2", "reinterpret", "runtime", "set_allocator", "testing",
]  # fmt: skip
