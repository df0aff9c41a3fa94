"""``tl.math``: mathematical functions, the same objects as in ``tl`` itself."""

from . import core

_NAMES = (
    "abs ceil clamp cos div_rn erf exp exp2 fdiv floor fma log log2 maximum minimum rsqrt sin sqrt sqrt_rn umulhi"
).split()

# Functions of older releases that projects still call through tl.math.
_OLDER = ("tanh", "pow", "log10", "log1p", "expm1")

__all__ = [*_NAMES]
__all__ += list(_OLDER)

globals().update({name: getattr(core, name) for name in _NAMES})
globals().update({name: core.Builtin("libdevice." + name, shown=name) for name in _OLDER})
