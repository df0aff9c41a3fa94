"""``@aggregate``: classes whose instances are values of a kernel with named fields.

A field holds what its annotation says: ``tl.tensor`` a run-time value, ``tl.constexpr`` a compile-time one, ``tl.tuple`` a tuple,
another aggregate an instance of that. The methods, decorated with ``@jit`` or not, are compiled as kernel code, the constructor too;
``@constexpr_function`` ones run in Python. Instances don't change once they are made: ``aggregate_replace`` makes changed copies.
"""

import builtins
import sys
import types
import typing

from ..jit import ConstexprFunction, JITFunction
from . import core
from .tuples import tuple as tuple_class

_MISSING = object()


def _classes_of(annotation, field):
    """The classes that an annotation allows; none for "anything"."""
    if annotation in (typing.Any, object):
        return ()
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        parts = [_classes_of(part, field) for part in typing.get_args(annotation)]
        return sum(parts, ()) if all(parts) else ()
    annotation = typing.get_origin(annotation) or annotation
    if not isinstance(annotation, type):
        raise TypeError(f"field '{field}' is annotated with {annotation!r}, which is no class; annotate it with tl.tensor, "
                        "tl.constexpr, tl.tuple or another aggregate")  # fmt: skip
    return (annotation,)


class AggregateInfo:
    """What an aggregate class consists of, for the frontend (frontend/lower_aggregate.cc).

    Attributes:
        owner: the class.
        fields: names, those of base classes first.
        kinds: for each field, the classes of which its value must be an instance; empty if anything will do.
        defaults: values of fields by name.
        init: the author's ``__init__`` as a kernel function, or None.
    """

    def __init__(self, cls, local_names):
        self.owner = cls
        annotations, self.defaults, self._members = {}, {}, {}
        for base in reversed(cls.__mro__[1:-1]):
            info = base.__dict__.get("_trivet_aggregate")
            if info is None:
                raise TypeError(f"Aggregates can only inherit from other aggregates, found {base}")
            annotations.update(builtins.zip(info.fields, info.kinds, strict=True))
            self.defaults.update(info.defaults)
            self._members.update(info._members)
        hints = typing.get_type_hints(cls, localns=local_names)
        for name in cls.__dict__.get("__annotations__", {}):
            annotations[name] = _classes_of(hints[name], name)
        for name, value in cls.__dict__.items():
            if isinstance(value, (types.FunctionType, JITFunction, ConstexprFunction, staticmethod, classmethod)):
                self._members[name] = value
            elif name in annotations:
                self.defaults[name] = value
        self.fields = builtins.tuple(annotations)
        self.kinds = builtins.tuple(annotations.values())
        self.python_init = self._members.pop("__init__", None)
        init = self.python_init
        self.init = _as_kernel_code(init.fn if isinstance(init, ConstexprFunction) else init)
        self._kernel_members = {}

    def member(self, name):
        """``(how, function)`` of a method, how being "method", "static" or "class"; None if there is none."""
        found = self._members.get(name)
        if found is None:
            return None
        how = {staticmethod: "static", classmethod: "class"}.get(type(found), "method")
        if name not in self._kernel_members:
            self._kernel_members[name] = _as_kernel_code(getattr(found, "__func__", found))
        return how, self._kernel_members[name]

    def values(self, instance):
        """The fields of an instance, in order."""
        return builtins.tuple(instance.__dict__[name] for name in self.fields)

    def rebuild(self, names, values):
        """An instance of these fields; not all of them, while a constructor runs."""
        instance = object.__new__(self.owner)
        instance.__dict__.update(builtins.zip(names, map(_wrap, values), strict=True))
        return instance


def _as_kernel_code(function):
    return JITFunction(function) if isinstance(function, types.FunctionType) else function


def _wrap(value):
    """A field's value as Triton keeps it: compile-time values as constexpr, tuples as tl.tuple of such."""
    if isinstance(value, builtins.tuple):
        return tuple_class(map(_wrap, value), getattr(value, "_fields", None))
    is_value = isinstance(value, (core.constexpr, core.tensor)) or hasattr(type(value), "_trivet_aggregate")
    return value if is_value else core.constexpr(value)


def _bind(info, args, kwargs):
    """Values of all fields by name, from the arguments of a class without a constructor of its own."""
    name = info.owner.__name__
    if len(args) > len(info.fields):
        raise TypeError(f"{name} has {len(info.fields)} fields, found {len(args)} values")
    given = dict(builtins.zip(info.fields, args, strict=False))
    for field, value in kwargs.items():
        if field in given:
            raise TypeError(f"{name} got multiple values for field '{field}'")
        if field not in info.fields:
            raise TypeError(f"{name} has no field '{field}'; its fields are {', '.join(info.fields)}")
        given[field] = value
    for field in info.fields:
        if field not in given and field not in info.defaults:
            raise TypeError(f"{name} is missing the field '{field}'")
    return {field: given.get(field, info.defaults.get(field)) for field in info.fields}


def aggregate(cls):
    """Makes a class an aggregate: kernels build instances, read their fields and call their methods.

    Without an ``__init__`` the class takes its fields as arguments, in order or by name, with the defaults that the class gives.

    Raises:
        TypeError: a base class is no aggregate, or an annotation is no class.
    """
    info = AggregateInfo(cls, sys._getframe(1).f_locals)
    python_init = info.python_init

    def __init__(self, *args, **kwargs):
        if isinstance(python_init, JITFunction):
            raise TypeError(f"the constructor of {cls.__name__} is a @jit function: make instances inside a kernel")
        if python_init is not None:
            python_init(self, *args, **kwargs)
        else:
            for name, value in _bind(info, args, kwargs).items():
                setattr(self, name, _wrap(value))
        for name in info.fields:
            if name not in self.__dict__:
                raise AttributeError(f"the constructor of {cls.__name__} does not set the field '{name}'")
        self.__dict__["_is_complete"] = True

    def __setattr__(self, name, value):
        if name not in info.fields:
            raise AttributeError(f"{cls.__name__} has no field '{name}'")
        kinds = info.kinds[info.fields.index(name)]
        if kinds and not isinstance(value, kinds):
            raise TypeError(f"field '{name}' of {cls.__name__} is {kinds}, found {type(value)}")
        if "_is_complete" in self.__dict__:
            raise AttributeError(
                f"cannot assign to field '{name}' on immutable aggregate {cls.__name__}; make another with aggregate_replace()"
            )
        self.__dict__[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and info.values(self) == info.values(other)

    def __hash__(self):
        return hash((cls, *info.values(self)))

    def __repr__(self):
        return f"{cls.__name__}({', '.join(f'{name}={value!r}' for name, value in zip(info.fields, info.values(self), strict=True))})"

    for method in (__init__, __setattr__, __hash__):
        setattr(cls, method.__name__, method)
    for method in (__eq__, __repr__):
        if method.__name__ not in cls.__dict__ or method.__name__ == "__eq__":
            setattr(cls, method.__name__, method)
    cls._trivet_aggregate = info
    cls.__triton_aggregate__ = True
    cls.__aggregate_fields__ = info.fields
    cls.__aggregate_defaults__ = dict(info.defaults)
    return cls


def aggregate_replace(instance, **changes):
    """A copy of an aggregate with some fields changed; in kernels and outside.

    Raises:
        TypeError: not an aggregate, or it has no such field.
    """
    info = getattr(type(instance), "_trivet_aggregate", None)
    if info is None:
        raise TypeError(f"aggregate_replace() expects an aggregate instance, found {type(instance)}")
    for name in changes:
        if name not in info.fields:
            raise TypeError(f"{type(instance).__name__} has no field '{name}'")
    made = info.rebuild(info.fields, info.values(instance))
    for name, value in changes.items():
        setattr(made, name, _wrap(value))
    made.__dict__["_is_complete"] = True
    return made


aggregate_replace.__trivet_kernel__ = core.Builtin("aggregate_replace")  # type: ignore[attr-defined]


class RunTimeValue(core.tensor):
    """What a compile-time function sees in place of a run-time value: its type."""

    def __init__(self, type):
        self.type = type
        self.dtype = type.scalar
        self.shape = type.shape
