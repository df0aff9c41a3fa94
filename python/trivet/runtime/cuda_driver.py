"""What programs read off ``driver.active`` on a machine with an NVIDIA GPU."""

from __future__ import annotations

import sys
from typing import Any

from .. import _trivet, knobs
from ..backends.compiler import GPUTarget
from .driver import CpuDriver


class _CudaUtils:
    """``driver.active.utils``."""

    def get_device_properties(self, device: int) -> dict[str, int]:
        """Limits of a device, under the names that programs use."""
        facts = _trivet.gpu_devices()[device]
        return {
            "max_shared_mem": facts["max_shared_bytes_per_cta"],
            "max_num_regs": facts["registers_per_cta"],
            "multiprocessor_count": facts["num_sms"],
            "warpSize": facts["warp_size"],
            "sm_clock_rate": facts["clock_khz"],
            "mem_clock_rate": facts["memory_clock_khz"],
            "mem_bus_width": facts["memory_bus_bits"],
        }


class CudaDriver(CpuDriver):
    """The driver of a machine with a GPU: kernels go where their tensors are, and new tensors to PyTorch's current device."""

    utils = _CudaUtils()  # type: ignore[assignment]

    def get_current_target(self) -> GPUTarget:
        told = knobs.target()
        if told is not None:
            return GPUTarget(*told, 32)
        return GPUTarget("cuda", _trivet.gpu_devices()[self.get_current_device()]["compute_capability"], 32)

    def get_current_device(self) -> int:
        import torch

        return int(torch.cuda.current_device())

    def set_current_device(self, device: int) -> None:
        import torch

        torch.cuda.set_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        import torch

        return int(torch.cuda.current_stream(device).cuda_stream)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        import torch

        major, minor = torch.cuda.get_device_capability(device)
        return major, minor

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(256 << 18, dtype=torch.int32, device="cuda")  # 256 MiB: more than any L2


def find() -> CudaDriver | None:
    """The driver, if PyTorch and we both see a GPU. PyTorch is not imported for that: no tensor is on a GPU without it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or _trivet.gpu_problem() is not None:
        return None
    return CudaDriver()
