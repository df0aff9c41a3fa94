"""``tl.extra.cpu``: the mathematical functions."""

from .. import libdevice

__all__ = ["libdevice"]
