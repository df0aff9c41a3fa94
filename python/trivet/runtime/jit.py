"""``triton.runtime.jit``: where programs written for Triton look for ``JITFunction`` and its relatives."""

from ..jit import (
    CompiledKernel,
    JITFunction,
    KernelInterface,
    KernelParam,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    jit,
    reinterpret,
)

__all__ = ["CompiledKernel", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "TensorWrapper",
           "constexpr_function", "jit", "reinterpret"]  # fmt: skip
