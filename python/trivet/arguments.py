"""Arguments and grid of a launch: what each is compiled as, and what runs it takes for it.

Most of that depends on the argument's type alone, so the conversion of each type is looked up once (``converter_of``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import signatures, tensors
from .dispatch import Device
from .errors import LaunchError
from .language import core
from .parameters import KernelParam
from .tools.tensor_descriptor import TensorDescriptor
from .wrappers import MockTensor


class Typed:
    """Stands for an argument of which only the type matters: ``warmup(Typed(tl.pointer_type(tl.float32)), ...)``."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype


class Argument:
    """One argument of a launch: its part of the signature, and what runs it.

    Attributes:
        key: hashable; equal for arguments that compile to the same code.
        spec: for ``_trivet.compile``.
        words: for each parameter of the bytecode that it becomes, the 64-bit words that this takes.
        allocation: the memory behind a tensor, as ``tensors.Tensor.allocation``; else None.
        place: device and name of a tensor; else None.
        items: of a tuple, its arguments.
    """

    __slots__ = ("allocation", "items", "key", "place", "spec", "words")

    def __init__(
        self,
        key: tuple[Any, ...],
        spec: tuple[Any, ...],
        words: Sequence[list[int]] = (),
        allocation: tuple[Any, ...] | None = None,
        place: tuple[Device, str] | None = None,
        items: Sequence[Argument] = (),
    ) -> None:
        self.key = key
        self.spec = spec
        self.words = words
        self.allocation = allocation
        self.place = place
        self.items = items

    def append_to(self, words: list[list[int]], allocations: list[tuple[Any, ...]]) -> None:
        """Appends the words of its parameters, and its allocations."""
        words.extend(self.words)
        if self.allocation is not None:
            allocations.append(self.allocation)
        for item in self.items:
            item.append_to(words, allocations)


_BOOL, _FLOAT = core.dtype("int1"), core.dtype("fp32")

# (name, value, name of the annotated element type or '') -> Argument
Converter = Callable[[str, Any, str], Argument]


def convert(parameters: Sequence[KernelParam], values: Sequence[Any]) -> list[Argument]:
    """The arguments of a launch, one for each parameter.

    Raises:
        LaunchError: a value that no kernel takes, or that doesn't fit its type.
    """
    return [
        _constant(p.name, v, "")
        if p.is_constexpr
        else (_CONVERTERS.get(type(v)) or converter_of(v))(p.name, v, p.annotation_type)
        for p, v in zip(parameters, values, strict=True)
    ]


def _constant(name: str, value: Any, annotation: str) -> Argument:
    if isinstance(value, core.constexpr):
        value = value.value
    return Argument(("c", type(value), hashable(value)), ("c", value))


def _typed(name: str, value: Typed, annotation: str) -> Argument:
    return Argument(("p" if value.dtype.is_ptr() else "s", str(value.dtype)), ("r", value.dtype))


def _scalar(name: str, value: Any, dtype: core.dtype) -> Argument:
    return Argument(("s", dtype.name), ("r", dtype), ([signatures.word_of(name, value, dtype)],))


def _boolean(name: str, value: bool, annotation: str) -> Argument:
    return _scalar(name, value, core.dtype(annotation) if annotation else _BOOL)


def _integer(name: str, value: Any, annotation: str) -> Argument:
    number = value.__index__()
    if annotation:
        return _scalar(name, number, core.dtype(annotation))
    try:
        return _scalar(name, number, signatures.type_of_int(number))
    except OverflowError:
        raise LaunchError(f"argument '{name}': {number} does not fit into 64 bits") from None


def _float(name: str, value: float, annotation: str) -> Argument:
    return _scalar(name, value, core.dtype(annotation) if annotation else _FLOAT)


def _numpy_scalar(name: str, value: Any, annotation: str) -> Argument:
    item = value.item()
    return converter_of(item)(name, item, annotation)


def _tensor(name: str, value: Any, annotation: str) -> Argument:
    tensor = tensors.describe(name, value)
    pointer, text = _pointer_to(tensor.dtype)
    return Argument(("p", text), ("r", pointer), ([tensor.address],), tensor.allocation, (tensor.device, name))


def _mock_tensor(name: str, value: MockTensor, annotation: str) -> Argument:
    pointer, text = _pointer_to(tensors.dtype_of(name, value))
    return Argument(("p", text), ("r", pointer))


_POINTERS: dict[str, tuple[Any, str]] = {}


def _pointer_to(dtype: core.dtype) -> tuple[Any, str]:
    """The type of a pointer to ``dtype``, and its text."""
    found = _POINTERS.get(dtype.name)
    if found is None:
        pointer = core.pointer_type(dtype)
        found = _POINTERS[dtype.name] = (pointer, str(pointer))
    return found


def _descriptor(name: str, value: TensorDescriptor, annotation: str) -> Argument:
    """A descriptor takes one parameter, then one for each extent and each stride."""
    tensor = tensors.describe(name, value.base)
    block = [int(extent) for extent in value.block_shape]
    shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
    padding = {"zero": 1, "nan": 2}[value.padding]
    words = [[tensor.address, padding, *shape, *strides], *([n] for n in shape), *([n] for n in strides)]
    return Argument(("d", tensor.dtype.name, tuple(block)), ("d", tensor.dtype, block), words, tensor.allocation,
                    (tensor.device, name))  # fmt: skip


def _tuple(name: str, value: Sequence[Any], annotation: str) -> Argument:
    items = [converter_of(item)(f"{name}.{i}", item, annotation) for i, item in enumerate(value)]
    fields = list(getattr(value, "_fields", ()))
    return Argument(("t", tuple(fields), *(i.key for i in items)), ("t", [i.spec for i in items], fields), items=items)


# By exact type. Subclasses, and types of other libraries, are found by `converter_of`; those of PyTorch and NumPy are added then.
_CONVERTERS: dict[type, Converter] = {
    bool: _boolean,
    int: _integer,
    float: _float,
    str: _constant,
    type(None): _constant,
    core.constexpr: _constant,
    core.dtype: _constant,
    tuple: _tuple,
    list: _tuple,
    Typed: _typed,
    TensorDescriptor: _descriptor,
    MockTensor: _mock_tensor,
}
_BY_BASE: tuple[tuple[type, Converter], ...] = tuple(_CONVERTERS.items())


def converter_of(value: Any) -> Converter:
    """What makes an ``Argument`` of values like this one.

    Raises:
        LaunchError (when the converter is called): a kernel can't take such a value.
    """
    kind = type(value)
    found = _CONVERTERS.get(kind)
    if found is not None:
        return found
    for base, converter in _BY_BASE:
        if isinstance(value, base):
            return converter
    if tensors.is_tensor(value):
        if tensors.is_known_class(kind):
            _CONVERTERS[kind] = _tensor
        return _tensor
    if getattr(kind, "is_compile_time", False):
        return _constant
    # NumPy scalars and the like.
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        return _numpy_scalar
    if hasattr(value, "__index__"):
        return _integer
    return _refuse


def _refuse(name: str, value: Any, annotation: str) -> Argument:
    raise LaunchError(
        f"argument '{name}': a kernel can't take a {type(value).__module__}.{type(value).__qualname__}; it takes tensors, "
        "numbers, tuples of them, and compile-time values for tl.constexpr parameters"
    )


def hashable(value: Any) -> Any:
    """A key for a compile-time value, that tells apart what ``==`` doesn't (0.0 and -0.0)."""
    if isinstance(value, (list, tuple)):
        return tuple(hashable(v) for v in value)
    if isinstance(value, float):
        return value.hex()
    return value


def grid_extents(grid: Any, meta: Callable[[], Mapping[str, Any]], name: str) -> tuple[int, int, int]:
    """The three extents of a grid given as a number, a tuple, or a function of the arguments.

    Args:
        meta: gives the arguments and options by name.
        name: of the kernel.

    Raises:
        LaunchError: not one to three integers from 0 to 2147483647.
    """
    if isinstance(grid, core.constexpr):
        grid = grid.value
    if callable(grid):
        grid = grid(meta())
    if isinstance(grid, (int, core.constexpr)) or hasattr(grid, "__index__"):
        grid = (grid,)
    if not isinstance(grid, (tuple, list)):
        raise LaunchError(f"{name}: the grid must be a tuple of one to three integers, found {type(grid).__name__}")
    if not 1 <= len(grid) <= 3:
        raise LaunchError(f"{name}: the grid must have one to three extents, found {len(grid)}")
    extents = [1, 1, 1]
    for axis, extent in enumerate(grid):
        try:
            value = extent.__index__()
        except (AttributeError, TypeError):
            raise LaunchError(f"{name}: grid extents must be integers, found {extent!r} in {tuple(grid)}") from None
        if not 0 <= value < 1 << 31:
            raise LaunchError(f"{name}: grid extents must be 0 to 2147483647, found {value} in {tuple(grid)}")
        extents[axis] = value
    return extents[0], extents[1], extents[2]
