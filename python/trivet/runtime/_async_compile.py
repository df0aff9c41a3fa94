"""``triton.runtime._async_compile``: where programs written for Triton look for ``AsyncCompileMode``."""

from ..async_compile import AsyncCompileMode, FutureKernel, active_mode

__all__ = ["AsyncCompileMode", "FutureKernel", "active_mode"]
