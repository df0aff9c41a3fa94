"""Which tier runs a launch.

A *tier* is something that executes compiled kernels: the interpreter, for memory of this machine; a GPU's, for its memory. The
memory of the arguments decides: all of a launch's tensors lie on one device, and the tiers that serve this kind of device are
tried, fastest first. One that can't run the kernel refuses with op, line and reason; the next one takes the launch. Falling back
is counted always, logged once a kernel, and an error if TRIVET_FALLBACK=error.

This module knows no tier. Each registers itself (trivet/tiers/).
"""

from __future__ import annotations

import collections
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from . import knobs
from .errors import LaunchError, TierRefusal

if TYPE_CHECKING:
    from .arguments import Argument
    from .kernel import CompiledKernel


class Device(NamedTuple):
    """Where memory lies."""

    kind: str  # as PyTorch spells it: 'cpu', 'cuda'
    ordinal: int

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.ordinal}"


CPU = Device("cpu", 0)


class Resources(NamedTuple):
    """What one program of a kernel takes of a processor."""

    n_regs: int
    n_spills: int
    shared: int  # bytes


class Tier(Protocol):
    """Executes compiled kernels.

    Attributes:
        name: 'interpreter', 'cuda': in messages, counters and TRIVET_LOG.
        device_kind: which memory it serves, as ``Device.kind``.
        forms: names of the forms of a kernel that it can show in ``kernel.asm``: 'ptx', 'cubin'.
    """

    name: str
    device_kind: str
    forms: tuple[str, ...]

    def launch(self, kernel: CompiledKernel, arguments: Sequence[Argument], grid: tuple[int, int, int],
               options: Mapping[str, Any], device: Device) -> None:  # fmt: skip
        """Runs every program of the grid (at least one), or queues that on the device's stream.

        Args:
            kernel: ``kernel.module`` is the bytecode.
            arguments: one for each parameter of the Python function. ``Argument.append_to`` gives the words for each parameter
                of the bytecode.
            grid: extents along the three axes.
            options: of the launch (``num_warps``, …), as given.
            device: where the tensors lie; of this tier's kind.

        Raises:
            TierRefusal: this tier can't run the kernel. No program ran; the launch goes to the next tier.
            KernelError: the kernel failed while running.
        """

    def resources(self, kernel: CompiledKernel) -> Resources:
        """What a program takes, loading the kernel onto the current device if need be."""

    def form(self, kernel: CompiledKernel, name: str) -> Any:
        """One of ``forms``: text or bytes."""


_tiers: list[Tier] = []
_loaders: dict[str, Callable[[], None]] = {}  # by kind of device: registers the tiers for it
_by_kind: dict[str, list[Tier]] = {}
_log = logging.getLogger("trivet")
_logged: set[tuple[str, str, str]] = set()

# Launches that a tier finished, by its name; and refusals, by (tier, kernel, reason).
launches: collections.Counter[str] = collections.Counter()
refusals: collections.Counter[tuple[str, str, str]] = collections.Counter()


def register(tier: Tier, first: bool = False) -> None:
    """Adds a tier behind those of its kind of device, or before them."""
    serving = _by_kind.setdefault(tier.device_kind, [])
    serving.insert(0 if first else len(serving), tier)
    _tiers.append(tier)


def register_when_needed(device_kind: str, load: Callable[[], None]) -> None:
    """Has ``load`` register the tiers for a kind of device when such memory is first seen: importing starts no driver, so that a
    process may still fork."""
    _loaders[device_kind] = load


def _load(device_kind: str) -> None:
    loader = _loaders.pop(device_kind, None)
    if loader is not None:
        loader()


def unregister(tier: Tier) -> None:
    """Takes a tier away."""
    _by_kind[tier.device_kind].remove(tier)
    if not _by_kind[tier.device_kind]:
        del _by_kind[tier.device_kind]
    _tiers.remove(tier)


def tiers() -> Sequence[Tier]:
    """All tiers, in the order of their registration."""
    return _tiers


def serves(device_kind: str) -> bool:
    """Whether some tier runs kernels on such memory."""
    _load(device_kind)
    return device_kind in _by_kind


def current() -> Tier:
    """The tier that launches on the current device try first: a GPU's if there is one."""
    torch = sys.modules.get("torch")
    if torch is not None and _loaders and torch.cuda.is_initialized():
        _load("cuda")
    kind = next((kind for kind in _by_kind if kind != CPU.kind), CPU.kind)
    return _by_kind[kind][0]


def device_of(kernel_name: str, arguments: Sequence[Argument]) -> Device:
    """The device that the tensors of a launch lie on; the processor if there are none.

    Raises:
        LaunchError: they lie on several; the message names two.
    """
    found: tuple[Device, str] | None = None
    for place in _places(arguments):
        if found is None:
            found = place
        elif found[0] != place[0]:
            (device, name), (other_device, other_name) = found, place
            raise LaunchError(
                f"{kernel_name}: argument '{name}' is on device '{device}' and argument '{other_name}' on "
                f"'{other_device}'; all tensors of a launch must be on one device"
            )
    return CPU if found is None else found[0]


def _places(arguments: Iterable[Argument]) -> Iterator[tuple[Device, str]]:
    for argument in arguments:
        if argument.place is not None:
            yield argument.place
        elif argument.items:
            yield from _places(argument.items)


def launch(kernel: CompiledKernel, arguments: Sequence[Argument], grid: tuple[int, int, int],
           options: Mapping[str, Any]) -> None:  # fmt: skip
    """Runs a launch on the first tier that can.

    Raises:
        LaunchError: the tensors lie on several devices, or no tier serves theirs, or every tier refused.
        KernelError: the kernel failed while running.
    """
    device = device_of(kernel.name, arguments)
    refused: list[TierRefusal] = []
    for tier in _by_kind.get(device.kind, ()):
        try:
            tier.launch(kernel, arguments, grid, options, device)
        except TierRefusal as refusal:
            _note(kernel, tier, refusal)
            refused.append(refusal)
        else:
            launches[tier.name] += 1
            return
    reasons = "; ".join(map(str, refused)) or f"no tier runs kernels on device '{device}'"
    raise LaunchError(f"{kernel.name}: {reasons}")


def _note(kernel: CompiledKernel, tier: Tier, refusal: TierRefusal) -> None:
    """Counts a refusal, and logs it the first time."""
    about = (tier.name, kernel.name, str(refusal))
    refusals[about] += 1
    if knobs.fallback() == "error":
        raise LaunchError(
            f"{kernel.name} can't run on the tier '{tier.name}': {refusal} (TRIVET_FALLBACK=error)"
        ) from refusal
    if about not in _logged:
        _logged.add(about)
        _log.warning("%s: the tier '%s' refuses, the next one runs it: %s", kernel.name, tier.name, refusal)
