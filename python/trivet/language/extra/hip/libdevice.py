"""``tl.extra.hip.libdevice``: the same module as ``tl.extra.libdevice``."""

import sys

from .. import libdevice

sys.modules[__name__] = libdevice
