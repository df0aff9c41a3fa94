"""``DriverBase``: what a driver answers to programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Benchmarker(Protocol):
    """Times a function: milliseconds at each of the quantiles."""

    def __call__(self, kernel_call: Callable[[], Any], *, quantiles: list[float], **kwargs: Any) -> Sequence[float]: ...


class DriverBase(ABC):
    """A driver of some kind of device."""

    @classmethod
    @abstractmethod
    def is_active(cls) -> bool:
        """Whether its kind of device can be used."""

    @abstractmethod
    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of an argument of this signature type."""

    @abstractmethod
    def get_current_target(self) -> Any:
        """The ``GPUTarget`` that kernels are compiled for."""

    @abstractmethod
    def get_active_torch_device(self) -> Any:
        """The ``torch.device`` that programs put their tensors on."""

    @abstractmethod
    def get_benchmarker(self) -> Benchmarker:
        """What times kernels on this device."""
