"""NVIDIA GPUs as a tier, and the interpreter on copies of their memory, which takes what the GPU tier can't."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _trivet
from ..arguments import Argument
from ..dispatch import Device, Resources
from ..errors import KernelError, LaunchError, TierRefusal
from ..kernel import CompiledKernel

KIND = "cuda"
FORMS = ("tile", "llir", "ptx", "cubin")

# (divisibility, value or None): what code is specialised on; docs/architecture.md.
Fact = tuple[int, "int | None"]
NO_FACT: Fact = (1, None)


def flattened(arguments: Sequence[Argument]) -> tuple[list[list[int]], list[tuple[Any, ...]]]:
    """Words for each parameter of the bytecode, and the allocations."""
    words: list[list[int]] = []
    allocations: list[tuple[Any, ...]] = []
    for argument in arguments:
        argument.append_to(words, allocations)
    return words, allocations


def facts_of(kernel: CompiledKernel, words: Sequence[Sequence[int]]) -> tuple[Fact, ...]:
    """What a launch's arguments promise: addresses and integers that are multiples of 16, and integers that are 1."""
    out: list[Fact] = []
    for (_, type_text), parameter in zip(kernel.module.parameters, words, strict=True):
        word = parameter[0]
        if type_text.startswith(("ptr", "desc")):
            out.append((16, None) if word % 16 == 0 else NO_FACT)
        elif type_text in ("i16", "i32", "i64", "u16", "u32", "u64"):
            out.append((1, 1) if word == 1 else (16, None) if word % 16 == 0 else NO_FACT)
        else:
            out.append(NO_FACT)
    return tuple(out)


# Of libdevice, in the packages that bring it: NVIDIA's of two generations, and Triton.
_IN_PACKAGES = (
    "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
    "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc",
    "triton/backends/nvidia/lib/libdevice.10.bc",
)


def libdevice_candidates() -> Iterator[Path]:
    """Where NVIDIA's libdevice may lie, best first. Packages are looked for in ``sys.path``: importing Triton would bring it into
    the process."""
    if os.environ.get("TRIVET_LIBDEVICE"):
        yield Path(os.environ["TRIVET_LIBDEVICE"])
    for inside in _IN_PACKAGES:
        yield from (Path(location, inside) for location in sys.path if location)
    for toolkit in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"):
        if toolkit:
            yield Path(toolkit, "nvvm/libdevice/libdevice.10.bc")


_libdevice: str | None = None


def libdevice_path() -> str:
    """The file libdevice.10.bc; empty if there is none."""
    global _libdevice
    if _libdevice is None:
        _libdevice = next((str(path) for path in libdevice_candidates() if path.is_file()), "")
    return _libdevice


def _stream_of(device: Device) -> int:
    torch = sys.modules.get("torch")
    if torch is None:
        return 0
    return int(torch._C._cuda_getCurrentRawStream(device.ordinal))


def _option(options: Mapping[str, Any], kernel: CompiledKernel, name: str, default: int) -> int:
    value = options.get(name)
    if value is None:
        value = kernel.metadata.get(name, default)
    return default if value is None else int(value)


class CudaTier:
    """``dispatch.Tier`` over jit/runtime. A launch is queued on the current stream of the tensors' device."""

    name = "cuda"
    device_kind = KIND
    forms: tuple[str, ...] = FORMS

    def __init__(self) -> None:
        self._kernels: dict[Any, Any] = {}  # (module, device, options, facts) -> GpuKernel

    def launch(self, kernel: CompiledKernel, arguments: Sequence[Argument], grid: tuple[int, int, int],
               options: Mapping[str, Any], device: Device) -> None:  # fmt: skip
        words, _ = flattened(arguments)
        gpu_kernel = self.kernel(kernel, words, options, device)
        try:
            gpu_kernel.launch(device.ordinal, _stream_of(device), grid, words)
        except _trivet.GpuRefusal as refusal:
            raise TierRefusal(str(refusal)) from None
        except ValueError as error:
            raise LaunchError(f"{kernel.name}: {error}") from None

    def kernel(self, kernel: CompiledKernel, words: Sequence[Sequence[int]], options: Mapping[str, Any],
               device: Device) -> Any:  # fmt: skip
        """The machine code for a launch: the same for all with equal facts.

        Raises:
            TierRefusal: this tier can't, naming op, line and reason.
        """
        facts = facts_of(kernel, words)
        launch_options = tuple(
            _option(options, kernel, name, default)
            for name, default in (("num_warps", 4), ("num_stages", 3), ("num_ctas", 1), ("maxnreg", 0))
        )
        key = (kernel.module, device.ordinal, launch_options, facts)
        found = self._kernels.get(key)
        if found is None:
            try:
                found = _trivet.gpu_kernel(
                    kernel.module, device.ordinal, *launch_options, list(facts), libdevice_path()
                )
            except _trivet.GpuRefusal as refusal:
                found = TierRefusal(str(refusal))
            self._kernels[key] = found
        if isinstance(found, TierRefusal):
            raise found
        kernel.__dict__["_last_gpu_kernel"] = (found, device)
        return found

    def _latest(self, kernel: CompiledKernel) -> tuple[Any, Device]:
        """The code launched last; code without facts if there is none."""
        latest = kernel.__dict__.get("_last_gpu_kernel")
        if latest is None:
            device = Device(KIND, _current_device())
            words = [[3] for _ in kernel.module.parameters]
            latest = (self.kernel(kernel, words, {}, device), device)
        return latest

    def resources(self, kernel: CompiledKernel) -> Resources:
        gpu_kernel, device = self._latest(kernel)
        return Resources(*gpu_kernel.resources(device.ordinal))

    def form(self, kernel: CompiledKernel, name: str) -> Any:
        gpu_kernel, device = self._latest(kernel)
        return gpu_kernel.cubin(device.ordinal) if name == "cubin" else getattr(gpu_kernel, name)

    def cross_check(self, kernel: CompiledKernel, arguments: Sequence[Argument], grid: tuple[int, int, int],
                    options: Mapping[str, Any], device: Device) -> tuple[bool, str]:  # fmt: skip
        """Launches, runs the same on the interpreter on copies, and compares.

        Returns:
            Whether all tensors are equal within the tolerances of docs/semantics.md, and a report.
        """
        words, allocations = flattened(arguments)
        gpu_kernel = self.kernel(kernel, words, options, device)
        result: tuple[bool, str] = _trivet.gpu_cross_check(
            kernel.module, gpu_kernel, device.ordinal, _stream_of(device), grid, words, allocations
        )
        return result


class MirrorTier:
    """The interpreter on copies of device memory, written back when the kernel is done."""

    name = "interpreter (mirrored)"
    device_kind = KIND
    forms: tuple[str, ...] = ()

    def launch(self, kernel: CompiledKernel, arguments: Sequence[Argument], grid: tuple[int, int, int],
               options: Mapping[str, Any], device: Device) -> None:  # fmt: skip
        words, allocations = flattened(arguments)
        trap = _trivet.gpu_launch_mirrored(kernel.module, device.ordinal, _stream_of(device), grid, words, allocations)
        if trap is not None:
            raise KernelError(trap)

    def resources(self, kernel: CompiledKernel) -> Resources:
        return Resources(n_regs=1, n_spills=0, shared=1)

    def form(self, kernel: CompiledKernel, name: str) -> Any:
        raise KeyError(name)


def _current_device() -> int:
    torch = sys.modules.get("torch")
    return int(torch.cuda.current_device()) if torch is not None and torch.cuda.is_available() else 0
