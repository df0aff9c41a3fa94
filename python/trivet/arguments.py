"""Arguments and grid of a launch: what each is compiled as, and what the interpreter takes for it."""

from . import signatures, tensors
from .errors import LaunchError
from .language import core
from .tools.tensor_descriptor import TensorDescriptor
from .wrappers import MockTensor


class Typed:
    """Stands for an argument of which only the type matters: ``warmup(Typed(tl.pointer_type(tl.float32)), ...)``."""

    def __init__(self, dtype):
        self.dtype = dtype


class Argument:
    """One argument of a launch: its part of the signature, and what the interpreter takes."""

    __slots__ = ("key", "spec", "words", "allocation", "items")

    def __init__(self, key, spec, words=(), allocation=None, items=()):
        self.key = key  # hashable; equal for arguments that compile to the same code
        self.spec = spec  # for _trivet.compile
        self.words = words  # for each parameter of the bytecode, the 64-bit words it takes
        self.allocation = allocation
        self.items = items  # of a tuple

    def append_to(self, words, allocations):
        words.extend(self.words)
        if self.allocation is not None:
            allocations.append(self.allocation)
        for item in self.items:
            item.append_to(words, allocations)

    @classmethod
    def of(cls, parameter, value):
        if parameter.is_constexpr:
            return cls.constant(value)
        return cls.value(parameter.name, value, parameter.annotation_type)

    @classmethod
    def constant(cls, value):
        if isinstance(value, core.constexpr):
            value = value.value
        return cls(("c", type(value), hashable(value)), ("c", value))

    @classmethod
    def value(cls, name, value, annotation=""):
        if isinstance(value, core.constexpr):
            return cls.constant(value)
        if isinstance(value, Typed):
            return cls(("p" if value.dtype.is_ptr() else "s", str(value.dtype)), ("r", value.dtype))
        if isinstance(value, bool):
            return cls.scalar(name, value, core.dtype(annotation) if annotation else core.int1)
        if isinstance(value, int):
            return cls._integer(name, int(value), annotation)
        if isinstance(value, float):
            return cls.scalar(name, value, core.dtype(annotation) if annotation else core.float32)
        if isinstance(value, TensorDescriptor):
            return cls._descriptor(name, value)
        if isinstance(value, MockTensor):
            pointer = core.pointer_type(tensors.dtype_of(name, value))
            return cls(("p", str(pointer)), ("r", pointer))
        if tensors.is_tensor(value):
            tensor = tensors.describe(name, value)
            pointer = core.pointer_type(tensor.dtype)
            return cls(("p", str(pointer)), ("r", pointer), ([tensor.address],), tensor.allocation)
        if isinstance(value, (tuple, list)):
            items = [cls.value(f"{name}.{i}", item) for i, item in enumerate(value)]
            fields = list(getattr(value, "_fields", ()))
            return cls(
                ("t", tuple(fields), *(i.key for i in items)), ("t", [i.spec for i in items], fields), items=items
            )
        if value is None or isinstance(value, (str, core.dtype)) or getattr(type(value), "is_compile_time", False):
            return cls.constant(value)
        # NumPy scalars and the like.
        if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
            return cls.value(name, value.item(), annotation)
        if hasattr(value, "__index__"):
            return cls._integer(name, value.__index__(), annotation)
        raise LaunchError(
            f"argument '{name}': a kernel can't take a {type(value).__module__}.{type(value).__qualname__}; it takes tensors, "
            "numbers, tuples of them, and compile-time values for tl.constexpr parameters"
        )

    @classmethod
    def _descriptor(cls, name, value):
        """A descriptor takes one parameter, then one for each extent and each stride."""
        tensor = tensors.describe(name, value.base)
        block = [int(extent) for extent in value.block_shape]
        shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
        padding = {"zero": 1, "nan": 2}[value.padding]
        words = [[tensor.address, padding, *shape, *strides], *([n] for n in shape), *([n] for n in strides)]
        return cls(("d", tensor.dtype.name, tuple(block)), ("d", tensor.dtype, block), words, tensor.allocation)

    @classmethod
    def _integer(cls, name, value, annotation):
        if annotation:
            return cls.scalar(name, value, core.dtype(annotation))
        try:
            return cls.scalar(name, value, signatures.type_of_int(value))
        except OverflowError:
            raise LaunchError(f"argument '{name}': {value} does not fit into 64 bits") from None

    @classmethod
    def scalar(cls, name, value, dtype):
        return cls(("s", dtype.name), ("r", dtype), ([signatures.word_of(name, value, dtype)],))


def hashable(value):
    if isinstance(value, (list, tuple)):
        return tuple(hashable(v) for v in value)
    if isinstance(value, float):
        return value.hex()  # tells 0.0 from -0.0
    return value


def grid_extents(grid, meta, name):
    """The three extents of a grid given as a number, a tuple, or a function of the arguments."""
    if isinstance(grid, core.constexpr):
        grid = grid.value
    if callable(grid):
        grid = grid(meta)
    if isinstance(grid, (int, core.constexpr)) or hasattr(grid, "__index__"):
        grid = (grid,)
    if not isinstance(grid, (tuple, list)):
        raise LaunchError(f"{name}: the grid must be a tuple of one to three integers, found {type(grid).__name__}")
    if not 1 <= len(grid) <= 3:
        raise LaunchError(f"{name}: the grid must have one to three extents, found {len(grid)}")
    extents = []
    for extent in grid:
        try:
            value = extent.__index__()
        except (AttributeError, TypeError):
            raise LaunchError(f"{name}: grid extents must be integers, found {extent!r} in {tuple(grid)}") from None
        if not 0 <= value < 1 << 31:
            raise LaunchError(f"{name}: grid extents must be 0 to 2147483647, found {value} in {tuple(grid)}")
        extents.append(value)
    return extents + [1] * (3 - len(extents))
