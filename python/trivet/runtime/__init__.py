"""What Triton keeps in ``triton.runtime``: autotuner, driver, launch hooks, allocators."""

from ..jit import JITCallable, JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
from . import cache, driver
from ._allocation import set_allocator
from ._async_compile import AsyncCompileMode, FutureKernel
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .errors import InterpreterError, OutOfResources

__all__ = [
    "AsyncCompileMode", "Autotuner", "FutureKernel", "cache", "Config", "Heuristics", "InterpreterError", "JITCallable", "JITFunction", "KernelInterface", "MockTensor", "OutOfResources", "TensorWrapper",
    "autotune", "driver", "heuristics", "reinterpret", "set_allocator",
]  # fmt: skip
