"""``tl.extra``: libdevice and what belongs to one kind of hardware."""

from . import libdevice

__all__ = ["cpu", "cuda", "hip", "libdevice"]


def __getattr__(name):
    # Loaded at first use: they are made of @jit functions, and @jit needs the language.
    if name in ("cpu", "cuda", "hip"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
