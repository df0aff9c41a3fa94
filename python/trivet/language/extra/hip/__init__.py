"""``tl.extra.hip``: the mathematical functions."""

from .. import libdevice

__all__ = ["libdevice"]
