"""Arrays of other libraries as kernel arguments: NumPy arrays and CPU tensors of PyTorch, without copying.

``describe(name, array)`` gives the address of the first element, the element type, and the allocation that the interpreter
registers: the storage behind the view, and the view's shape and strides, for bounds and for messages.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from . import dispatch
from .dispatch import CPU, Device
from .errors import LaunchError
from .language.core import dtype as DType

_NUMPY = {
    "bool": "int1",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "float16": "fp16",
    "float32": "fp32",
    "float64": "fp64",
    # ml_dtypes
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
}
_TORCH = {
    "torch.bool": "int1",
    "torch.int8": "int8",
    "torch.int16": "int16",
    "torch.int32": "int32",
    "torch.int64": "int64",
    "torch.uint8": "uint8",
    "torch.uint16": "uint16",
    "torch.uint32": "uint32",
    "torch.uint64": "uint64",
    "torch.float16": "fp16",
    "torch.bfloat16": "bf16",
    "torch.float32": "fp32",
    "torch.float64": "fp64",
    "torch.float8_e4m3fn": "fp8e4nv",
    "torch.float8_e5m2": "fp8e5",
    "torch.float8_e4m3fnuz": "fp8e4b8",
    "torch.float8_e5m2fnuz": "fp8e5b16",
}


class Tensor(NamedTuple):
    """A tensor argument."""

    address: int
    dtype: DType
    # (name, storage base, storage bytes, view base, dtype name, shape, strides in elements, writable)
    allocation: tuple[str, int, int, int, str, tuple[int, ...], tuple[int, ...], bool]
    device: Device


def is_tensor(value: Any) -> bool:
    """Whether ``value`` can be passed where a kernel expects a pointer."""
    return is_known_class(type(value)) or (hasattr(value, "data_ptr") and hasattr(value, "dtype"))


def is_known_class(kind: type) -> bool:
    """Whether all objects of this class are tensors: one of PyTorch's or NumPy's."""
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(kind, numpy.ndarray)


# By the library's own object for the element type.
_found_dtypes: dict[Any, DType] = {}


def dtype_of(name: str, value: Any) -> DType:
    """The element type of a tensor argument.

    Raises:
        LaunchError: the tensor has an element type that kernels don't know.
    """
    try:
        return _found_dtypes[value.dtype]
    except (KeyError, TypeError):
        pass
    spelling = str(value.dtype)
    known = _TORCH.get(spelling) or _NUMPY.get(spelling)
    if known is None and isinstance(value.dtype, DType):
        return value.dtype
    if known is None:
        raise LaunchError(f"argument '{name}': a kernel can't take a tensor of {spelling}")
    found = DType(known)
    try:
        _found_dtypes[value.dtype] = found
    except TypeError:
        pass
    return found


def describe(name: str, value: Any) -> Tensor:
    """Address, element type, allocation and device of a tensor argument.

    Raises:
        LaunchError: unsupported element type, byte order or device.
    """
    dtype = dtype_of(name, value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _describe_numpy(name, value, dtype)
    return _describe_torch(name, value, dtype)


def _describe_numpy(name: str, array: Any, dtype: DType) -> Tensor:
    if not array.dtype.isnative:
        raise LaunchError(f"argument '{name}': the array's byte order is not this machine's")
    view = array.__array_interface__["data"][0]
    itemsize = array.dtype.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise LaunchError(f"argument '{name}': the array's strides are not multiples of its {itemsize}-byte elements")
    # The array that owns the memory: a kernel may address what lies around a view.
    owner = array
    numpy = sys.modules["numpy"]
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    low, high = _byte_bounds(owner)
    view_low, view_high = _byte_bounds(array)
    low, high = min(low, view_low), max(high, view_high)
    strides = tuple(stride // itemsize for stride in array.strides)
    allocation = (name, low, high - low, view, dtype.name, array.shape, strides, bool(array.flags.writeable))
    return Tensor(view, dtype, allocation, CPU)


def _byte_bounds(array: Any) -> tuple[int, int]:
    low = high = array.__array_interface__["data"][0]
    if array.size == 0:
        return low, low
    for extent, stride in zip(array.shape, array.strides, strict=False):
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return low, high + array.dtype.itemsize


def _describe_torch(name: str, tensor: Any, dtype: DType) -> Tensor:
    device = _device_of(name, tensor)
    address = tensor.data_ptr()
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        base, size = storage.data_ptr(), storage.nbytes()
    else:
        base = address
        last = (
            sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=False)) if 0 not in shape else -1
        )
        size = (last + 1) * tensor.element_size()
    return Tensor(address, dtype, (name, base, size, address, dtype.name, shape, strides, True), device)


def _device_of(name: str, tensor: Any) -> Device:
    device = getattr(tensor, "device", None)
    kind = getattr(device, "type", CPU.kind)
    if kind == CPU.kind:
        return CPU
    if not dispatch.serves(kind):
        raise LaunchError(
            f"argument '{name}' is on device '{device}': this build runs kernels on CPU tensors; move it with .cpu()"
        )
    return Device(kind, getattr(device, "index", None) or 0)
