"""The interpreter as a tier: runs kernels on this machine's memory, in place."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _trivet, errors, knobs
from ..arguments import Argument
from ..dispatch import CPU, Device, Resources
from ..kernel import CompiledKernel


class InterpreterTier:
    """``dispatch.Tier`` over vm/interpreter. A launch is done when ``launch`` returns."""

    name = "interpreter"
    device_kind = CPU.kind
    forms: tuple[str, ...] = ()

    def launch(self, kernel: CompiledKernel, arguments: Sequence[Argument], grid: tuple[int, int, int],
               options: Mapping[str, Any], device: Device) -> None:  # fmt: skip
        """Runs every program as the knobs of ``knobs.launch()`` say. Options change nothing here.

        Raises:
            KernelError: a program failed.
        """
        words: list[list[int]] = []
        allocations: list[tuple[Any, ...]] = []
        for argument in arguments:
            argument.append_to(words, allocations)
        run_module(kernel.module, grid, words, allocations, knobs.launch())

    def resources(self, kernel: CompiledKernel) -> Resources:
        """The interpreter has neither registers nor shared memory; 1 each, since programs divide by them to find out how many
        copies a processor can hold."""
        return Resources(n_regs=1, n_spills=0, shared=1)

    def form(self, kernel: CompiledKernel, name: str) -> Any:
        raise KeyError(name)


def run_module(module: Any, grid: Sequence[int], words: Sequence[Sequence[int]], allocations: Sequence[tuple[Any, ...]],
               setting: knobs.LaunchKnobs) -> None:  # fmt: skip
    """Runs the kernel of a module of bytecode.

    Args:
        grid: three extents.
        words: for each parameter of the bytecode, its 64-bit words.
        allocations: as ``tensors.Tensor.allocation``.

    Raises:
        KernelError: a program failed.
    """
    trap = _trivet.launch(module, grid, words, allocations, setting.schedule, setting.threads, setting.seed, setting.max_steps,
                          sys.stdout.write)  # fmt: skip
    if trap is not None:
        error_class, message = trap
        raise getattr(errors, error_class)(message)
