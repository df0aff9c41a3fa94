"""Things that stand for tensors: another element type over the same memory, or an element type without memory."""

from __future__ import annotations

from typing import Any


class TensorWrapper:
    """A tensor seen with another element type of the same width; made by ``reinterpret``."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.data = getattr(base, "data", base)
        self.device = getattr(base, "device", None)
        self.shape = base.shape

    def data_ptr(self) -> Any:
        return self.base.data_ptr()

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> Any:
        return self.base.element_size()

    def untyped_storage(self) -> Any:
        return self.base.untyped_storage()

    def cpu(self) -> Any:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def cuda(self) -> Any:
        return TensorWrapper(self.base.cuda(), self.dtype)

    def copy_(self, other: Any) -> None:
        self.base.copy_(other.base)

    def clone(self) -> Any:
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device: Any) -> Any:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, size: Any, **kwargs: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(size, **kwargs), self.dtype)

    def numel(self) -> int:
        return self.base.numel()

    def dim(self) -> int:
        return self.base.dim()

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """``tensor`` with its elements read as ``dtype``, an element type of the language."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == getattr(tensor.base, "dtype", None) else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"cannot reinterpret a {type(tensor).__name__}")


class MockTensor:
    """Stands for a tensor in ``warmup``: an element type and a shape, no memory."""

    def __init__(self, dtype: Any, shape: Any = None) -> None:
        self.dtype = dtype
        self.shape = list(shape) if shape is not None else [1]

    @staticmethod
    def wrap_dtype(value: Any) -> Any:
        name = type(value).__name__
        return MockTensor(value) if name == "dtype" and type(value).__module__ == "torch" else value

    def stride(self) -> Any:
        strides = [1]
        for extent in self.shape[:0:-1]:
            strides.insert(0, strides[0] * extent)
        return tuple(strides)

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0
