"""Types, constants and operations of the language.

Operations (``load``, ``dot``, …) are objects that only mean something inside a ``@jit`` function: the frontend knows them by
name. Calling one from Python raises an error that says so.
"""

import builtins
import enum
import inspect
import types

from .._trivet import builtins as _builtin_signatures
from .._trivet import dtypes as _element_types


class constexpr:
    """A value known at compile time: annotates parameters, wraps globals.

    ``BLOCK = tl.constexpr(128)`` makes a global that kernels may read; ``N: tl.constexpr`` a parameter that selects the code.
    """

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        if isinstance(value, types.FunctionType):  # used as a decorator: a function that runs while compiling
            from ..jit import ConstexprFunction

            value = ConstexprFunction(value)
        self.value = value

    @property
    def type(self):
        """The type of a compile-time value: the value itself decides."""
        return constexpr_type(self.value)

    def __repr__(self):
        return f"constexpr[{self.value!r}]"

    def __hash__(self):
        return hash(self.value)

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return self.value.__index__()

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, key):
        return self.value[_unwrap(key)]


class constexpr_type:
    """The type of a compile-time value, ``x.type`` of a ``tl.constexpr``: equal for equal values."""

    is_compile_time = True

    def __init__(self, value):
        self.value = _unwrap(value)

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


class tuple_type:
    """The type of a tuple: those of its values, and their names if it has some."""

    is_compile_time = True

    def __init__(self, types, fields=None):
        self.types, self.fields = list(types), None if fields is None else list(fields)

    def __eq__(self, other):
        return isinstance(other, tuple_type) and (self.types, self.fields) == (other.types, other.fields)

    def __repr__(self):
        return f"tuple_type({self.types}, {self.fields})"

    # The types of constants need not be hashable.
    __hash__ = None  # type: ignore[assignment]


def _unwrap(value):
    return value.value if isinstance(value, constexpr) else value


def _define_operators():
    """Gives constexpr the operators of the value inside; results are constexpr again."""
    import operator

    names = "add sub mul truediv floordiv mod pow lshift rshift and or xor lt le eq ne gt ge"
    for name in names.split():
        function = getattr(operator, name + ("_" if name in ("and", "or") else ""))

        def forward(self, other, function=function):
            return constexpr(function(self.value, _unwrap(other)))

        def backward(self, other, function=function):
            return constexpr(function(_unwrap(other), self.value))

        setattr(constexpr, f"__{name}__", forward)
        if name not in ("lt", "le", "eq", "ne", "gt", "ge"):
            setattr(constexpr, f"__r{name}__", backward)
    for name in ("neg", "pos", "invert"):
        function = getattr(operator, name)
        setattr(constexpr, f"__{name}__", lambda self, function=function: constexpr(function(self.value)))


_define_operators()

# Class of an element type, as _trivet.dtypes() numbers them.
_BOOL, _SIGNED, _UNSIGNED, _FLOAT = 1, 2, 3, 4
_FACTS = {name: (bits, storage, kind) for name, bits, storage, kind in _element_types()}


# (mantissa bits, exponent bias) of the float types.
_FLOAT_LAYOUT = {"fp8e4b15": (3, 15), "fp8e4nv": (3, 7), "fp8e4b8": (3, 8), "fp8e5": (2, 15), "fp8e5b16": (2, 16),
                 "fp16": (10, 15), "bf16": (7, 127), "fp32": (23, 127), "fp64": (52, 1023)}  # fmt: skip


class dtype:
    """An element type: ``tl.float32``, ``tl.int1``, …"""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name):
        name = _unwrap(name)
        if name != "void" and name not in _FACTS:
            raise ValueError(f"unknown element type {name!r}; there are {', '.join(_FACTS)}")
        self.name = name
        self.primitive_bitwidth, self._storage_bytes, self._kind = _FACTS.get(name, (0, 0, 0))
        if name in _FLOAT_LAYOUT:
            self.fp_mantissa_width, self.exponent_bias = _FLOAT_LAYOUT[name]

    @property
    def int_signedness(self):
        """Of an integer type."""
        return self.SIGNEDNESS.SIGNED if self.is_int_signed() else self.SIGNEDNESS.UNSIGNED

    def kind(self):
        """Bool, integer or float: the order in which types promote."""
        kinds = {_BOOL: self.KIND.BOOLEAN, _FLOAT: self.KIND.FLOATING}
        return kinds.get(self._kind, self.KIND.INTEGRAL)

    def codegen_name(self):
        """The name in the language: ``float32`` for fp32."""
        return repr(self).rsplit(".", 1)[1]

    @property
    def itemsize(self):
        """Bytes of one element in memory."""
        return self._storage_bytes

    @property
    def int_bitwidth(self):
        """Width of an integer type, in bits."""
        return self.primitive_bitwidth

    @property
    def scalar(self):
        """The type of one element: itself."""
        return self

    @property
    def shape(self):
        """The shape of a scalar: empty."""
        return ()

    def is_floating(self):
        return self._kind == _FLOAT

    def is_standard_floating(self):
        return self.name in self.STANDARD_FP_TYPES

    def is_fp8(self):
        return "fp8" in self.name

    def is_int(self):
        return self._kind in (_BOOL, _SIGNED, _UNSIGNED)

    def is_int_signed(self):
        return self._kind == _SIGNED

    def is_int_unsigned(self):
        return self._kind in (_BOOL, _UNSIGNED)

    def is_bool(self):
        return self._kind == _BOOL

    def is_void(self):
        return self.name == "void"

    def is_ptr(self):
        return False

    def is_const(self):
        return False

    def is_block(self):
        return False

    def is_dtype(type_str):
        return type_str == "void" or type_str in _FACTS

    def __getattr__(self, name):
        # is_fp32(), is_int8(), is_bf16(), ...
        if name.startswith("is_") and (name[3:] in _FACTS or name[3:] in ("fp32", "fp16")):
            return lambda: self.name == name[3:]
        raise AttributeError(f"dtype has no attribute {name!r}")

    def get_int_min_value(self):
        return -(1 << (self.primitive_bitwidth - 1)) if self._kind == _SIGNED else 0

    def get_int_max_value(self):
        return (1 << (self.primitive_bitwidth - (self._kind == _SIGNED))) - 1

    def to_bytes(self):
        return self._storage_bytes

    def with_element_ty(self, element_ty):
        """The type of the same shape over other elements."""
        return element_ty

    def __eq__(self, other):
        other = _unwrap(other)
        return type(self) is type(other) and self._identity() == other._identity()

    def __ne__(self, other):
        return not self == other

    def _identity(self):
        return self.name

    def __hash__(self):
        return hash(self._identity())

    def __str__(self):
        return self.name

    def __repr__(self):
        names = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
        return "triton.language." + names.get(self.name, self.name.replace("fp8", "float8"))


class pointer_type(dtype):
    """A pointer to elements of a type."""

    def __init__(self, element_ty, address_space=1, const=False):
        element_ty = _unwrap(element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"element_ty has type {type(element_ty).__name__}; expected dtype")
        self.element_ty = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"
        self.primitive_bitwidth, self._storage_bytes, self._kind = 64, 8, 0

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def _identity(self):
        return (self.element_ty, self.address_space, self.const)


class block_type(dtype):
    """A tile: shape and element type."""

    def __init__(self, element_ty, shape):
        self.element_ty = _unwrap(element_ty)
        self._shape = builtins.tuple(int(_unwrap(extent)) for extent in shape)
        self.name = f"<{list(self._shape)}, {self.element_ty}>"
        self.primitive_bitwidth = self.element_ty.primitive_bitwidth
        self._storage_bytes, self._kind = self.element_ty.itemsize, self.element_ty._kind
        self.numel = 1
        for extent in self._shape:
            self.numel *= extent

    @property
    def shape(self):
        return self._shape

    @property
    def scalar(self):
        return self.element_ty

    def is_block(self):
        return True

    def get_block_shapes(self):
        return self._shape

    def with_element_ty(self, element_ty):
        return block_type(element_ty, self._shape)

    @property
    def nbytes(self):
        """Bytes of the whole tile in memory."""
        return self.numel * self.element_ty.itemsize

    def _identity(self):
        return (self.element_ty, self._shape)


class PropagateNan(enum.IntEnum):
    """What ``minimum``, ``maximum`` and ``clamp`` do with NaN: ignore it (NONE) or give it (ALL)."""

    NONE = 0
    ALL = 0xFFFF


class Builtin:
    """An operation of the language. ``name`` is how the frontend calls it."""

    is_compile_time = True

    def __init__(self, name, doc="", shown=None):
        self.name = name
        self.__name__ = shown or name.rsplit(".", 1)[-1]
        self.__qualname__ = self.__name__
        self.__module__ = "trivet.language"
        self.__doc__ = doc
        signature = _builtin_signatures().get(name)
        if signature is not None:
            self.__signature__ = _signature_of(signature)

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            f"tl.{self.__name__} was called from Python: operations of the language only work inside a @jit function"
        )

    def __repr__(self):
        return f"<trivet operation tl.{self.__name__}>"


def _signature_of(text):
    """An ``inspect.Signature`` from the text of the frontend's table."""
    namespace = {"float32": "float32"}
    text = text.replace("\n", "\\n")
    exec(f"def f({text}): ...", namespace)  # the text is a constant of this package
    return inspect.signature(namespace["f"])


class base_value:
    """The class of everything a kernel computes with, for annotations."""


class tensor(base_value):
    """The class of run-time values inside a kernel, for annotations and ``isinstance`` there. Has no instances in Python."""


class tensor_descriptor(tensor):
    """The class of tensor descriptors inside a kernel."""


tensor_descriptor_base = tensor_descriptor


class const:
    """Annotates a pointer parameter that the kernel only reads through."""


def _define_types(namespace):
    names = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    for name in _FACTS:
        namespace[names.get(name, name.replace("fp8", "float8"))] = dtype(name)


_define_types(globals())
void = dtype("void")

#: The most elements that a tile may have in Triton.
TRITON_MAX_TENSOR_NUMEL = 1048576
pi32_t = pointer_type(globals()["int32"])

_DOCS = {
    "load": "Read memory through a pointer, a tile of pointers or a block pointer.\n\n``mask`` selects the elements to read; "
    "others give ``other``, or an undefined value without it.",
    "store": "Write ``value`` to memory where ``mask`` holds.",
    "dot": "Multiply two tiles as matrices: ``acc + input @ other``.\n\nf32 inputs are rounded as ``input_precision`` says: "
    "'tf32' (default), 'ieee', 'tf32x3', 'bf16x3' or 'bf16x6'.",
    "program_id": "Index of this program along grid axis 0, 1 or 2.",
    "num_programs": "Number of programs along grid axis 0, 1 or 2.",
    "arange": "The i32 tile ``start, start + 1, ..., end - 1``; its length is a power of 2.",
    "full": "A tile of ``shape`` with ``value`` in every element.",
    "where": "Elementwise choice between ``x`` and ``y``.",
    "reduce": "Combine all elements along ``axis`` by ``combine_fn``, a @jit function of two groups of scalars.",
    "associative_scan": "Inclusive prefix combination along ``axis`` by ``combine_fn``.",
    "atomic_cas": "Compare and swap, per element: gives the old value.",
    "range": "A loop counter from ``arg1`` to ``arg2``, with hints for the compiler.",
    "static_range": "A loop that is unrolled while compiling.",
}


def _define_operations(namespace):
    for name in _builtin_signatures():
        if "." in name or name in ("constexpr", "tuple"):
            continue
        namespace[name] = Builtin(name, _DOCS.get(name, ""))


_define_operations(globals())
