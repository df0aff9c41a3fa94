"""Memory that kernels ask for at run time (tensor descriptors made on a device)."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol


class Buffer(Protocol):
    """Memory on a device."""

    def data_ptr(self) -> int: ...


class Allocator(Protocol):
    """Gives memory: ``size`` and ``alignment`` in bytes, for use on ``stream``."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer: ...


_allocator: ContextVar[Allocator | None] = ContextVar("trivet_allocator", default=None)


def set_allocator(allocator: Allocator) -> None:
    """Sets the function ``(size, alignment, stream) -> buffer`` that gives kernels scratch memory on a GPU.

    The interpreter needs none; the function is kept for when a kernel runs on a device.
    """
    _allocator.set(allocator)


class NullAllocator:
    """An allocator that refuses: what is in place before ``set_allocator``."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        raise RuntimeError("a kernel asked for scratch memory, and no allocator was set (triton.set_allocator)")


def set_profile_allocator(allocator: Allocator | None) -> None:
    """As ``set_allocator``, for profiling buffers; kept, not used by the interpreter."""
