"""What the examples share on the host side: tensors that are PyTorch's or NumPy's, and how a result is judged.

With TRIVET_DEVICE=cuda they are PyTorch's on the GPU. A host function takes any kind and answers in kind. ``make()`` of an example builds its inputs with ``tensor()``,
which gives torch CPU tensors where PyTorch is installed and NumPy arrays otherwise; the same library then computes
what is to be expected.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

try:
    import torch
except ImportError:
    torch = None

Tensor = Any  # a torch.Tensor, or a numpy.ndarray
DEVICE = os.environ.get("TRIVET_DEVICE", "cpu")


def reference_library() -> str:
    """Whose numbers the examples are compared with."""
    return "NumPy" if torch is None else "PyTorch"


def tensor(array: np.ndarray) -> Tensor:
    """``array`` as a torch tensor (on the CPU it shares its memory); itself if PyTorch isn't there."""
    return array if torch is None else torch.from_numpy(array).to(DEVICE)


def normal(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Tensor:
    """A tensor of normal random numbers, the same for the same seed on every machine."""
    return tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def empty(like: Tensor, shape: tuple[int, ...], dtype: str) -> Tensor:
    """An uninitialised tensor of the kind of ``like``."""
    if isinstance(like, np.ndarray):
        return np.empty(shape, dtype)
    return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)


def zeros(like: Tensor, shape: tuple[int, ...], dtype: str) -> Tensor:
    """A tensor of zeros of the kind of ``like``."""
    if isinstance(like, np.ndarray):
        return np.zeros(shape, dtype)
    return torch.zeros(shape, dtype=getattr(torch, dtype), device=like.device)


def dtype_name(x: Tensor) -> str:
    """The element type, such as ``"float16"``."""
    return str(x.dtype).removeprefix("torch.")


def strides(x: Tensor) -> tuple[int, ...]:
    """Strides in elements, as Triton kernels take them."""
    if isinstance(x, np.ndarray):
        return tuple(stride // x.itemsize for stride in x.strides)
    return x.stride()


def in_float64(x: Tensor) -> Tensor:
    """A copy of ``x`` in float64, for the reference to compute in."""
    return x.astype(np.float64) if isinstance(x, np.ndarray) else x.detach().double()


class Verdict(NamedTuple):
    """What ``check()`` of an example returns."""

    shape: str
    dtype: str
    max_error: float  # largest absolute difference, in the output where it is worst relative to the bound
    bound: float  # what that difference may be


class Work(NamedTuple):
    """One example on one set of inputs."""

    shape: str
    dtype: str
    run: Callable[[], tuple[Tensor, ...]]  # launches the kernels, returns their outputs
    expect: Callable[[], tuple[Tensor, ...]]  # the same outputs by the reference library, in float64
    tolerance: float  # of the largest magnitude in an output

    def check(self) -> Verdict:
        """Run, compare every output, and return the verdict on the worst one."""
        verdicts = []
        for got, want in zip(self.run(), self.expect(), strict=True):
            got, want = np.asarray(in_float64(got)), np.asarray(want)
            bound = self.tolerance * float(np.abs(want).max())
            error = float(np.abs(got - want).max())
            verdicts.append(Verdict(self.shape, self.dtype, error if np.isfinite(error) else float("inf"), bound))
        return max(verdicts, key=lambda verdict: verdict.max_error / verdict.bound)
