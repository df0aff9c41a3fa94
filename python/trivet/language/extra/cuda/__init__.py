"""``tl.extra.cuda``: what belongs to NVIDIA's hardware and has a meaning without it."""

from ....jit import jit
from .. import libdevice

__all__ = ["gdc_launch_dependents", "gdc_wait", "libdevice"]


@jit
def gdc_wait():
    """Waits for the launch before this one, which is over: launches follow one another."""


@jit
def gdc_launch_dependents():
    """Lets the next launch start early; a hint, and launches follow one another."""
