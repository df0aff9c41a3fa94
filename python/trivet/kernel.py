"""``CompiledKernel``: a kernel for one signature, and what programs read off it."""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import dispatch
from .errors import LaunchError
from .interface import KernelInterface
from .language import core


class KernelMetadata(dict[str, Any]):
    """What a kernel was compiled with, by key or by attribute: ``metadata.num_warps``, ``metadata["num_warps"]``."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(num_warps=4, num_stages=3, num_ctas=1, shared=1)
        self.update({name: int(text) if text.lstrip("-").isdigit() else text for name, text in options.items()})

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the kernel was compiled without {name!r}") from None


class Forms(Mapping[str, Any]):
    """The forms of a kernel by name, each made when it is first asked for: ``tvbc`` and ``tvt``, and those of the tiers."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self._makers: dict[str, Callable[[], Any]] = {"tvbc": kernel.module.to_bytes, "tvt": kernel.module.to_text}
        for tier in dispatch.tiers():
            for name in tier.forms:
                self._makers[name] = functools.partial(tier.form, kernel, name)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class CompiledKernel:
    """A kernel for one signature. ``kernel[grid](...)`` launches it with the arguments of the function it was made from.

    Attributes:
        function: the ``JITFunction`` it was made from; None if it was read from a file.
        module: the bytecode (``_trivet.Module``).
        name: the kernel's function name.
        asm: ``asm['tvbc']`` is the bytecode file, ``asm['tvt']`` its text; more where a tier has more.
        metadata: launch options as compiled.
        n_regs, n_spills, shared: registers, spilled registers and bytes of shared memory of a program on the current device.
    """

    def __init__(self, function: Any, module: Any, globals_used: Iterable[tuple[Any, str, Any]] = (),
                 options: Mapping[str, Any] | None = None) -> None:  # fmt: skip
        self.function = function
        self.module = module
        self.options = dict(options or {})
        self.name: str = module.kernel
        self.metadata = KernelMetadata(module.metadata)
        self.is_loaded = False
        # What the language itself consists of doesn't change; leaving it out keeps launches quick.
        self._globals = list(
            {
                (id(owner), name): (owner, name, value)
                for owner, name, value in globals_used
                if not isinstance(value, types.ModuleType) and not _belongs_to_the_language(owner)
            }.values()
        )

    @functools.cached_property
    def asm(self) -> Forms:
        return Forms(self)

    @functools.cached_property
    def hash(self) -> str:
        """A text that is the same for the same bytecode."""
        return hashlib.sha256(self.module.to_bytes()).hexdigest()

    @property
    def n_regs(self) -> int:
        return dispatch.current().resources(self).n_regs

    @property
    def n_spills(self) -> int:
        return dispatch.current().resources(self).n_spills

    @property
    def shared(self) -> int:
        return dispatch.current().resources(self).shared

    def _init_handles(self) -> None:
        """Loads the code onto the device, which programs ask for before they read ``n_regs``."""
        dispatch.current().resources(self)

    def is_stale(self) -> bool:
        """Whether a global that the code was compiled with means something else by now."""
        for owner, name, value in self._globals:
            if isinstance(owner, KernelInterface):
                found, now = owner._look_up(name)  # type: ignore[attr-defined]
            else:  # a module or class
                now = getattr(owner, name, self)
                found = now is not self
            if not found or (now is not value and not _same_constant(now, value)):
                return True
        return False

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        if self.function is None:
            raise LaunchError(f"{self.name} was read from a file and can't be launched from Python: use `trivet run`")
        return functools.partial(self.function.run, grid=grid, warmup=False, **self.options)

    def __repr__(self) -> str:
        return f"<trivet kernel {self.name}>"


def _belongs_to_the_language(owner: Any) -> bool:
    name = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(owner, "__module__", "")
    return isinstance(name, str) and (name == "trivet" or name.startswith("trivet."))


def _same_constant(now: Any, then: Any) -> bool:
    if isinstance(now, core.constexpr):
        now = now.value
    if isinstance(then, core.constexpr):
        then = then.value
    if isinstance(now, KernelInterface) or type(now) is not type(then):
        return False
    try:
        return bool(now == then)
    except Exception:
        return False
