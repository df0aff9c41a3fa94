"""Memory that kernels ask for at run time (tensor descriptors made on a device)."""

from contextvars import ContextVar

_allocator = ContextVar("trivet_allocator", default=None)


def set_allocator(allocator):
    """Sets the function ``(size, alignment, stream) -> buffer`` that gives kernels scratch memory on a GPU.

    The interpreter needs none; the function is kept for when a kernel runs on a device.
    """
    _allocator.set(allocator)


class NullAllocator:
    """An allocator that refuses: what is in place before ``set_allocator``."""

    def __call__(self, size, alignment, stream):
        raise RuntimeError("a kernel asked for scratch memory, and no allocator was set (triton.set_allocator)")


def set_profile_allocator(allocator):
    """As ``set_allocator``, for profiling buffers; kept, not used by the interpreter."""
