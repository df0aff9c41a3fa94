"""``triton.compiler.compiler``: where programs and PyTorch look for what ``triton.compiler`` has."""

from .. import knobs
from ..backends.compiler import GPUTarget
from ..runtime.cache import get_cache_manager, get_dump_manager, get_override_manager, triton_key
from ..runtime.errors import OutOfResources
from . import ASTSource, CompilationError, CompiledKernel, compile

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "GPUTarget", "OutOfResources", "compile", "get_cache_manager",
           "get_dump_manager", "get_override_manager", "knobs", "max_shared_mem", "triton_key"]  # fmt: skip


def max_shared_mem(device: int) -> int:
    """Bytes of shared memory that a program may have on a device."""
    from ..runtime import driver

    return driver.active.utils.get_device_properties(device)["max_shared_mem"]
