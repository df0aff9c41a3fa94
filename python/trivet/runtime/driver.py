"""``triton.runtime.driver``: the device that kernels run on. Here: this machine's processor, truthfully described."""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING, Any

from .. import knobs
from ..backends.compiler import GPUTarget
from ..backends.driver import DriverBase


def _physical_memory_bytes() -> Any:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class _CpuUtils:
    """Facts about a device, under the names that Triton's drivers use."""

    def get_device_properties(self, device: Any = 0) -> Any:
        """``multiprocessor_count`` is the number of cores; limits of GPU hardware that don't exist here are generous."""
        return {
            "max_shared_mem": 1 << 30,
            "max_num_regs": 1 << 20,
            "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
            "total_memory": _physical_memory_bytes(),
        }


class _CpuEvent:
    """A point in time, in the manner of ``torch.cuda.Event``."""

    def __init__(self, enable_timing: bool = True, **_: Any) -> None:
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        import time

        self._time = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, later: Any) -> Any:
        """Milliseconds from this event to a later one."""
        return (later._time - self._time) * 1e3


class _CpuInterface:
    """What programs use of ``torch.cuda``, for a processor: nothing is asynchronous."""

    Event = _CpuEvent

    def synchronize(self, device: Any = None) -> None:
        pass

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None:
        pass

    def device_count(self) -> int:
        return 1

    def current_stream(self, device: Any = None) -> None:
        return None


class CpuDriver(DriverBase):
    """The driver of a machine on which kernels run on the interpreter."""

    utils = _CpuUtils()

    def get_current_target(self) -> Any:
        """``GPUTarget('cpu', architecture, 1)``, or what TRIVET_TARGET says."""
        told = knobs.target()
        if told is not None:
            return GPUTarget(*told, 32)
        return GPUTarget("cpu", platform.machine(), 1)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: Any) -> None:
        if device != 0:
            raise ValueError(f"there is one device, 0; found {device}")

    def get_current_stream(self, device: Any = 0) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        """PyTorch's processor. Programs use ``getattr(torch, device.type)`` as they use ``torch.cuda``: what is missing is added."""
        import torch

        if not hasattr(torch.cpu, "set_stream"):
            torch.cpu.set_stream = lambda stream: None  # type: ignore[attr-defined]  # a processor has one stream
        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        return _CpuInterface()

    def get_benchmarker(self) -> Any:
        from ..testing import do_bench

        return do_bench

    def get_device_capability(self, device: Any = 0) -> Any:
        """No compute capability: ``(0, 0)``."""
        return (0, 0)

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1 << 20, dtype=torch.int32)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> Any:
        names = {
            "i1": "int8_t",
            "fp16": "double",
            "bf16": "double",
            "fp32": "double",
            "f32": "double",
            "fp64": "double",
        }
        if ty.startswith("*"):
            return "void*"
        return names.get(ty, f"{'uint' if ty[0] == 'u' else 'int'}{ty[1:]}_t")

    @staticmethod
    def is_active() -> bool:
        return True


class _Drivers:
    """``driver.active`` is the driver in use, ``driver.default`` the one for this machine."""

    def __init__(self) -> None:
        self._cpu = CpuDriver()
        self._chosen: Any = None  # by set_active
        self._cuda: Any = None

    @property
    def default(self) -> Any:
        """A GPU's driver once PyTorch is there and sees a GPU, otherwise the processor's."""
        if self._cuda is None and "torch" in sys.modules:
            from . import cuda_driver

            self._cuda = cuda_driver.find() or self._cpu
        return self._cuda or self._cpu

    @property
    def active(self) -> Any:
        return self._chosen or self.default

    def set_active(self, driver: Any) -> None:
        self._chosen = driver

    def reset_active(self) -> None:
        self._chosen = None

    def set_active_to_cpu(self) -> None:
        """Makes the processor the device, as programs for Triton's fork for processors ask."""
        self._chosen = self._cpu

    def get_active_gpus(self) -> Any:
        """The drivers of GPUs: none."""
        return []


_drivers = _Drivers()
if TYPE_CHECKING:  # properties of the module, below
    active: Any
    default: Any


class _Module(type(os)):  # type: ignore[misc]
    """``driver`` is used as a module and as an object: `driver.active`, `from triton.runtime.driver import driver`."""

    @property
    def driver(self) -> Any:
        return _drivers

    @property
    def active(self) -> Any:
        return _drivers.active

    @property
    def default(self) -> Any:
        return _drivers.default

    def set_active(self, driver: Any) -> None:
        _drivers.set_active(driver)

    def reset_active(self) -> None:
        _drivers.reset_active()

    def set_active_to_cpu(self) -> None:
        _drivers.set_active_to_cpu()

    def get_active_gpus(self) -> Any:
        return []


sys.modules[__name__].__class__ = _Module
