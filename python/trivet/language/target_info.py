"""``tl.target_info``: what the kernel is compiled for, in kernels and outside. On a machine without a GPU it is the processor."""

from ..jit import constexpr_function

__all__ = [
    "cuda_capability_geq",
    "current_target",
    "is_cuda",
    "is_hip",
    "is_hip_cdna3",
    "is_hip_cdna4",
    "is_hip_gfx1250",
]


@constexpr_function
def current_target():
    """The target as ``driver.active.get_current_target()`` has it: ``backend``, ``arch``, ``warp_size``."""
    from ..runtime import driver

    return driver.active.get_current_target()


@constexpr_function
def is_cuda():
    """Whether it is an NVIDIA GPU."""
    return current_target().backend == "cuda"


@constexpr_function
def cuda_capability_geq(major, minor=0):
    """Whether it is an NVIDIA GPU of compute capability ``major.minor`` at least."""
    target = current_target()
    return target.backend == "cuda" and int(target.arch) >= major * 10 + minor


@constexpr_function
def is_hip():
    """Whether it is an AMD GPU."""
    return current_target().backend == "hip"


def _is_arch(name):
    @constexpr_function
    def is_arch():
        return is_hip() and current_target().arch == name

    return is_arch


is_hip_cdna3 = _is_arch("gfx942")
is_hip_cdna4 = _is_arch("gfx950")
is_hip_gfx1250 = _is_arch("gfx1250")
