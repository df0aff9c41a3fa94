"""``tl.extra``: libdevice and what belongs to one kind of hardware."""

from . import libdevice

__all__ = ["libdevice"]
