"""``tl.extra.cuda``: what belongs to NVIDIA's hardware and has a meaning without it."""

from ....jit import jit
from ... import core
from .. import libdevice

__all__ = ["convert_custom_float8_sm70", "convert_custom_float8_sm80", "experimental_device_tensormap_create1d",
           "experimental_device_tensormap_create2d", "experimental_tensormap_fenceproxy_acquire", "gdc_launch_dependents", "gdc_wait",
           "globaltimer", "libdevice", "num_threads", "num_warps", "smid"]  # fmt: skip

num_warps = core.Builtin("cuda.num_warps", "The warps of a program, as launched: a compile-time number.")
num_threads = core.Builtin("cuda.num_threads", "32 times ``num_warps()``.")
globaltimer = core.Builtin("cuda.globaltimer", "The GPU's clock, in nanoseconds. Not available: bytecode has no clock.")
experimental_device_tensormap_create1d = core.Builtin("cuda.experimental_device_tensormap_create1d")
experimental_device_tensormap_create2d = core.Builtin(
    "cuda.experimental_device_tensormap_create2d",
    "Write a descriptor of the row-major matrix at ``global_address``, of ``global_size``, to 128 bytes of memory at ``desc_ptr``.",
)
experimental_tensormap_fenceproxy_acquire = core.Builtin("cuda.experimental_tensormap_fenceproxy_acquire")


@jit
def smid():
    """The processor that the program runs on: there is one, number 0."""
    return core.to_tensor(0)


@jit
def gdc_wait():
    """Waits for the launch before this one, which is over: launches follow one another."""


@jit
def gdc_launch_dependents():
    """Lets the next launch start early; a hint, and launches follow one another."""


@jit
def convert_custom_float8_sm80(arg, dst_ty, fp_downcast_rounding: core.constexpr = None):
    """``arg`` converted to or from float8e4b15, which hardware lacks: the same as ``arg.to(dst_ty)``."""
    return arg.to(dst_ty, fp_downcast_rounding)


@jit
def convert_custom_float8_sm70(arg, dst_ty, fp_downcast_rounding: core.constexpr = None):
    """As ``convert_custom_float8_sm80``."""
    return arg.to(dst_ty, fp_downcast_rounding)
