"""What Triton keeps in ``triton.runtime``: autotuner, driver, launch hooks, allocators."""

from ..jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
from . import driver
from ._allocation import set_allocator
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .errors import OutOfResources

__all__ = [
    "Autotuner", "Config", "Heuristics", "JITFunction", "KernelInterface", "MockTensor", "OutOfResources", "TensorWrapper",
    "autotune", "driver", "heuristics", "reinterpret", "set_allocator",
]  # fmt: skip
