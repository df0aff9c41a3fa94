"""``@jit``: Python functions in the Triton language, their compilation cache, and launches.

A kernel is compiled once for each *signature*: the types of its run-time arguments and the values of its compile-time ones
(``tl.constexpr`` parameters, ``None``, strings, functions). Sizes, strides and addresses are not part of it.

A launch goes through four steps, a module each: binding.py (which value for which parameter), arguments.py (what each is compiled
as), compilation here unless the cache has the kernel, and dispatch.py (which tier runs it).
"""

from __future__ import annotations

import builtins
import collections
import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _trivet, dispatch, hooks, knobs
from .arguments import Argument, Typed, convert, grid_extents
from .async_compile import FutureKernel, active_mode
from .binding import Binder
from .compile_time import ConstexprFunction, constexpr_function, must_use_result
from .errors import CompileError, CompileTimeAssertionFailure
from .interface import JITCallable, KernelInterface
from .kernel import CompiledKernel
from .language import core
from .parameters import KernelParam, parameters_of
from .source import read_function, text_given_to_exec
from .wrappers import MockTensor, TensorWrapper, reinterpret

# Python's own functions that the frontend knows.
PYTHON_FUNCTIONS = {
    getattr(builtins, name.removeprefix("py.")): name for name in _trivet.builtins() if name.startswith("py.")
}


class JITFunction(JITCallable, KernelInterface):
    """A function in the Triton language: ``kernel[grid](...)`` launches it, other ``@jit`` functions may call it."""

    def __init__(self, fn: Any, version: Any = None, do_not_specialize: Any = None, do_not_specialize_on_alignment: Any = None, debug: Any = None,
                 noinline: Any = None, repr: Any = None, launch_metadata: Any = None) -> None:  # fmt: skip
        if not callable(fn) or not hasattr(fn, "__code__"):
            message = f"@jit expects a Python function, found {type(fn).__name__}"
            if isinstance(fn, KernelInterface):
                message += ": write @jit last, next to the function, and @autotune and @heuristics above it"
            raise TypeError(message)
        self.fn = fn
        self.version = version
        self.debug = debug
        self.noinline = noinline
        self.launch_metadata = launch_metadata
        self._repr = repr
        functools.update_wrapper(self, fn)
        self.__globals__ = fn.__globals__
        self.signature = inspect.signature(fn)
        for parameter in self.signature.parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                raise TypeError(
                    f"{fn.__name__}(): a kernel can't take **{parameter.name}: name each parameter, or pass a tuple or *args"
                )
        self.params = parameters_of(
            fn, self.signature, set(do_not_specialize or ()), set(do_not_specialize_on_alignment or ())
        )
        self._binder = Binder(fn.__name__, self.params)
        self.arg_names = [p.name for p in self.params]
        self.cache: dict[Any, CompiledKernel] = {}
        # Compiled kernels by device, as programs written for Triton look for them. There is one device.
        self.device_caches: dict[Any, tuple[Any, ...]] = collections.defaultdict(
            lambda: (self.cache, self.cache, None, None, None)
        )
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self._frontend_tree: Any = None
        self._source_override: str | None = None
        self._exec_text: str | None = None
        if fn.__code__.co_filename.startswith("<"):
            self._exec_text = text_given_to_exec(fn)

    @property
    def src(self) -> str:
        """The source text, from ``def`` on."""
        _, _, lines, _, cut = self._source()
        text = "\n".join(line[cut:] for line in lines)
        return text[text.index("def ") :]

    @property
    def cache_key(self) -> str:
        """A hash of the source."""
        return hashlib.sha256(self.src.encode()).hexdigest()

    def _unsafe_update_src(self, source: str) -> None:
        """Compiles ``source`` (from ``def`` on) instead of the function's own text; what was compiled is forgotten."""
        self._source_override = source
        self._frontend_tree = None
        self.cache.clear()

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """``hook(*args, **kwargs)`` is called before each run with the arguments of the launch."""
        self.pre_run_hooks.append(hook)

    # --- what the frontend asks (python/bindings/python_host.cc)

    def _source(self) -> Any:
        """As ``read_function``."""
        return read_function(self.fn, self._source_override, self._exec_text)

    def _parameter_kinds(self) -> dict[str, tuple[bool, str, bool]]:
        return {p.name: (p.is_constexpr, p.annotation_type, p.is_const) for p in self.params}

    def _look_up(self, name: str) -> tuple[bool, Any]:
        """(found, value) of a free name: closure, then globals, then Python's builtins."""
        code = self.fn.__code__
        if name in code.co_freevars:
            try:
                return True, (self.fn.__closure__ or ())[code.co_freevars.index(name)].cell_contents
            except ValueError:
                return False, None
        if name in self.fn.__globals__:
            return True, self.fn.__globals__[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    def _is_constexpr_global(self, name: str) -> bool:
        annotation = self.fn.__globals__.get("__annotations__", {}).get(name)
        return annotation is core.constexpr or (isinstance(annotation, str) and annotation.endswith("constexpr"))

    def _default_of(self, name: str) -> tuple[bool, Any]:
        default = self.signature.parameters[name].default
        return (False, None) if default is inspect.Parameter.empty else (True, default)

    # --- launching

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Compiles if needed, and runs every program of the grid unless ``warmup``. Gives the compiled kernel.

        Raises:
            LaunchError: arguments, options or grid are wrong.
            CompileError: the kernel can't be compiled for these arguments.
            KernelError: the kernel failed while running.
        """
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        values, options = self._binder.bind(args, kwargs)
        arguments = convert(self.params, values)
        kernel = self._compiled(arguments, values, options, warmup)
        if warmup or not isinstance(kernel, CompiledKernel):
            return kernel
        by_name = functools.partial(self._by_name, values)
        extents = grid_extents(grid, lambda: {**by_name(), **options}, self.__name__)
        if 0 in extents:
            return kernel
        if not kernel.is_loaded:
            kernel.is_loaded = True
            hooks.around_load(kernel)
        hooks.around_launch(kernel, extents, by_name, lambda: dispatch.launch(kernel, arguments, extents, options))
        return kernel

    def _by_name(self, values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.arg_names, values, strict=True))

    def _compiled(self, arguments: Sequence[Argument], values: Sequence[Any], options: dict[str, Any],
                  is_warmup: bool) -> CompiledKernel | FutureKernel | None:  # fmt: skip
        """The kernel for these arguments, from the cache if it has it; None if a hook says that it be not compiled, and a promise of
        it within an ``AsyncCompileMode``."""
        setting = knobs.compile_knobs()
        key = (tuple([a.key for a in arguments]), _options_key(options), setting)
        try:
            kernel = self.cache.get(key)
            is_cachable = True
        except TypeError:  # a compile-time value that can't be hashed
            kernel, is_cachable = None, False
        if kernel is None or kernel.is_stale():
            about = (self, key if is_cachable else None, self._by_name(values), options, is_warmup)
            if hooks.around_compilation(knobs.runtime.jit_cache_hook, *about):
                return None

            def keep(compiled: CompiledKernel) -> None:
                if is_cachable:
                    self.cache[key] = compiled
                hooks.around_compilation(knobs.runtime.jit_post_compile_hook, *about)

            mode = active_mode.get() if is_warmup and is_cachable else None
            if mode is not None:
                return mode.submit((self, key), lambda: self._compile(arguments, options, setting), keep)
            kernel = self._compile(arguments, options, setting)
            keep(kernel)
        return kernel

    def _compile(
        self, arguments: Sequence[Argument], options: Mapping[str, Any], setting: knobs.CompileKnobs
    ) -> CompiledKernel:
        for p in self.params:
            if p.is_constexpr and (p.do_not_specialize or p.do_not_specialize_on_alignment):
                code = self.fn.__code__
                message = f"{p.name} marked as constexpr and listed in do_not_specialize"
                text = f"{code.co_filename}:{code.co_firstlineno}: error: {message}"
                raise CompileError([(code.co_filename, code.co_firstlineno, 1, message, text)], self.__name__)
        chosen = {"default_dot_input_precision": setting.dot_precision, **options} if setting.dot_precision else options
        texts = [(name, str(value)) for name, value in chosen.items() if isinstance(value, (bool, int, float, str))]
        specs = [a.spec for a in arguments]
        if self.params and self.params[-1].is_variadic:
            specs = [*specs[:-1], *specs[-1][1]]
        module, diagnostics, used = _trivet.compile(self, specs, texts, setting.plain_globals, setting.portable)
        if diagnostics:
            first = diagnostics[0][3]
            if first.startswith("static_assert failed"):
                raise CompileTimeAssertionFailure(diagnostics, self.__name__)
            raise CompileError(diagnostics, self.__name__) from ValueError(first)
        return CompiledKernel(self, module, used, options)

    def __repr__(self) -> str:
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"


def _options_key(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Options as a key of a dictionary; those that can't be hashed (``extern_libs``) by their text."""
    if not options:
        return ()
    return tuple(
        (name, repr(value) if isinstance(value, (dict, list)) else value) for name, value in sorted(options.items())
    )


def jit(fn: Any = None, *, version: Any = None, repr: Any = None, launch_metadata: Any = None, do_not_specialize: Any = None,
        do_not_specialize_on_alignment: Any = None, debug: Any = None, noinline: Any = None) -> Any:  # fmt: skip
    """Makes a Python function a kernel or a helper in the Triton language.

    Use as ``@jit`` or ``@jit(...)``. The body is compiled at the first launch for each signature; decorating checks nothing.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return JITFunction(function, version=version, repr=repr, launch_metadata=launch_metadata,
                           do_not_specialize=do_not_specialize,
                           do_not_specialize_on_alignment=do_not_specialize_on_alignment, debug=debug,
                           noinline=noinline)  # fmt: skip

    return decorate if fn is None else decorate(fn)


__all__ = ["CompiledKernel", "ConstexprFunction", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "TensorWrapper",
           "Typed", "constexpr_function", "jit", "must_use_result", "reinterpret"]  # fmt: skip
