"""Names of older releases of the language, which projects still use: each means what replaced it.

``tl.libdevice`` and most of ``tl.math`` were libdevice; ``tl.core`` had helpers for the library's own sorting network.
"""

from ..jit import constexpr_function, must_use_result
from . import aggregate, core, math, tuples
from .extra import libdevice


def _int_dtype(bitwidth, signed):
    return core.dtype(f"{'' if signed else 'u'}int{bitwidth}")


#: The integer type of a width in bits; for use inside kernels and outside.
get_int_dtype = constexpr_function(_int_dtype)

core.get_int_dtype = get_int_dtype  # type: ignore[attr-defined]
core.CONSTEXPR_0 = core.constexpr(0)  # type: ignore[attr-defined]
core._aggregate = aggregate.aggregate  # type: ignore[attr-defined]
core.aggregate_replace = aggregate.aggregate_replace  # type: ignore[attr-defined]
core.tuple = tuples.tuple  # type: ignore[attr-defined]
tuples.tuple.__trivet_kernel__ = core.Builtin("tuple")  # type: ignore[attr-defined]
core._unwrap_if_constexpr = core._unwrap  # type: ignore[attr-defined]


def _math_attribute(name):
    if name in libdevice.__all__:
        return getattr(libdevice, name)
    raise AttributeError(f"module {math.__name__!r} has no attribute {name!r}")


math.__getattr__ = _math_attribute  # type: ignore[method-assign]


def _as_kernel_code(fn):
    """``core.builtin`` and ``core.extern`` mark functions that run while compiling, written with the language's own operations and
    handing ``_semantic`` down. They are compiled as any helper is."""
    from ..jit import JITFunction

    return JITFunction(fn)


core.must_use_result = must_use_result  # type: ignore[attr-defined]
core.builtin = core.extern = _as_kernel_code  # type: ignore[attr-defined]
