"""The hooks of ``knobs.runtime`` around compilation, loading and launches, as programs written for Triton set them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import knobs
from .kernel import CompiledKernel


def around_compilation(hook: Callable[..., Any] | None, function: Any, key: Any, values: Mapping[str, Any],
                       options: Mapping[str, Any], is_warmup: bool) -> Any:  # fmt: skip
    """Tells ``jit_cache_hook`` or ``jit_post_compile_hook`` what is compiled; gives its answer (None without a hook).

    Args:
        function: the ``JITFunction``.
        key: what the compiled kernel is kept under.
        values: the arguments, by parameter.
    """
    if hook is None:
        return None
    constants = {p.name: values[p.name] for p in function.params if p.is_constexpr}
    chosen = {name: tuple(value.items()) if isinstance(value, dict) else value for name, value in options.items()}
    facts = {
        "constants": constants,
        "num_warps": 4,
        "num_stages": 3,
        "num_ctas": 1,
        "enable_fp_fusion": True,
        **chosen,
    }
    return hook(key=repr(key), repr=f"{function.__name__}{key}", fn=function, compile=facts, is_manual_warmup=is_warmup,
                already_compiled=False)  # fmt: skip


def around_load(kernel: CompiledKernel) -> None:
    """Calls the hooks around the loading of a kernel, before its first launch."""
    start, end = knobs.runtime.kernel_load_start_hook, knobs.runtime.kernel_load_end_hook
    if start.calls or end.calls:
        about = (kernel.module, None, kernel.name, kernel.metadata, kernel.hash)
        start(*about)
        end(*about)


def around_launch(kernel: CompiledKernel, grid: tuple[int, int, int], values: Callable[[], Mapping[str, Any]],
                  launch: Callable[[], None]) -> None:  # fmt: skip
    """Launches, with ``launch_enter_hook`` before and ``launch_exit_hook`` after; ``values`` gives the arguments by parameter."""
    enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    if not enter.calls and not leave.calls:
        launch()
        return
    metadata = knobs.LaunchMetadata(kernel, grid, values())
    enter(metadata)
    launch()
    leave(metadata)
