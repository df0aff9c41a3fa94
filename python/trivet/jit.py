"""``@jit``: Python functions as kernels and helpers, their compilation cache, and launches.

A kernel is compiled once for each *signature*: the types of its run-time arguments and the values of its compile-time ones
(``tl.constexpr`` parameters, ``None``, strings, functions). Sizes, strides and addresses are not part of it.
"""

import builtins
import collections
import functools
import hashlib
import inspect
import sys
import types

from . import _trivet, errors, knobs, signatures
from .arguments import Argument, Typed, grid_extents
from .errors import CompileError, CompileTimeAssertionFailure, LaunchError
from .language import core
from .source import read_function, text_given_to_exec
from .wrappers import MockTensor, TensorWrapper, reinterpret

# Keywords of a launch that are not parameters of the kernel. They choose how a GPU runs it and change no result.
_OPTIONS = frozenset(
    "num_warps num_stages num_ctas maxnreg num_buffers_warp_spec num_consumer_groups reg_dec_producer reg_inc_consumer "
    "enable_fp_fusion launch_cooperative_grid launch_pdl sanitize_overflow debug ptx_version cluster_dims extern_libs "
    "allow_fp8e4nv max_num_imprecise_acc_default supported_fp8_dtypes deprecated_fp8_dtypes default_dot_input_precision "
    "arch backend_name ir_override instrumentation_mode waves_per_eu matrix_instr_nonkdim kpack schedule_hint stream "
    "device device_type num_cpu_threads".split()
)

# Python's own functions that the frontend knows.
_PYTHON_FUNCTIONS = {
    getattr(builtins, name.removeprefix("py.")): name for name in _trivet.builtins() if name.startswith("py.")
}


class KernelParam:
    """One parameter of a ``@jit`` function."""

    def __init__(self, number, parameter, annotation, do_not_specialize, do_not_specialize_on_alignment=False):
        self.num = number
        self._parameter = parameter
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        self.name = parameter.name
        self.annotation = (
            annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        )
        if annotation is inspect.Parameter.empty:
            self.annotation = ""
        self.is_constexpr = annotation is core.constexpr or "constexpr" in self.annotation
        self.is_const = "const" in self.annotation and not self.is_constexpr
        self.annotation_type = "" if self.is_constexpr else _annotated_dtype(annotation)

    @property
    def default(self):
        return self._parameter.default

    @property
    def has_default(self):
        return self._parameter.default is not inspect.Parameter.empty

    @property
    def is_variadic(self):
        return self._parameter.kind is inspect.Parameter.VAR_POSITIONAL


def _annotated_dtype(annotation):
    """Name of the element type that a parameter is annotated with, or ''."""
    if isinstance(annotation, core.dtype) and not annotation.is_ptr():
        return annotation.name
    if isinstance(annotation, str):
        text = annotation.rsplit(".", 1)[-1]
        found = getattr(core, text, None)
        if isinstance(found, core.dtype):
            return found.name
        try:
            return signatures.parse_type(text).name
        except ValueError:
            return ""
    return ""


class ConstexprFunction:
    """A Python function that kernels may call with compile-time values; made by ``@constexpr_function``."""

    is_compile_time = True

    def __init__(self, fn):
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __get__(self, instance, owner=None):
        """A method of an aggregate takes the aggregate first."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        def unwrap(value):
            if isinstance(value, core.constexpr):
                return value.value
            return value

        return self.fn(*map(unwrap, args), **{k: unwrap(v) for k, v in kwargs.items()})


def constexpr_function(fn):
    """Lets kernels call ``fn`` while they are compiled; arguments and result are compile-time values."""
    return ConstexprFunction(fn)


def must_use_result(words, is_used=True):
    """Makes it an error for a kernel to call the decorated function as a statement, dropping what it gives.

    Use as ``@must_use_result`` or ``@must_use_result("words to add to the message")``, above ``@jit`` or ``@constexpr_function``.
    ``is_used=False`` takes the mark away.
    """

    def decorate(fn, text=""):
        fn._must_use_result = text if is_used else None
        return fn

    if isinstance(words, str):
        return lambda fn: decorate(fn, words)
    return decorate(words)


class KernelMetadata(dict):
    """What a kernel was compiled with, by key or by attribute: ``metadata.num_warps``, ``metadata["num_warps"]``."""

    def __init__(self, options):
        super().__init__(num_warps=4, num_stages=3, num_ctas=1, shared=1)
        self.update({name: int(text) if text.lstrip("-").isdigit() else text for name, text in options.items()})

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the kernel was compiled without {name!r}") from None


class CompiledKernel:
    """A kernel for one signature. ``kernel[grid](...)`` launches it with the arguments of the function it was made from.

    Attributes:
        name: the kernel's function name.
        asm: ``asm['tvbc']`` is the bytecode file, ``asm['tvt']`` its text.
        metadata: launch options as compiled.
        n_regs, shared: registers and bytes of shared memory. The interpreter has neither; they are 1, since programs divide by
            them to find out how many copies a processor can hold.
        n_spills: 0.
    """

    def __init__(self, function, module, globals_used, options=None):
        self.function = function
        self._options = options or {}
        self.module = module
        self.name = module.kernel
        self.metadata = KernelMetadata(module.metadata)
        self.n_regs, self.n_spills, self.shared = 1, 0, 1
        self._is_loaded = False
        # What the language itself consists of doesn't change; leaving it out keeps launches quick.
        self._globals = list(
            {
                (id(owner), name): (owner, name, value)
                for owner, name, value in globals_used
                if not isinstance(value, types.ModuleType) and not _belongs_to_the_language(owner)
            }.values()
        )

    @functools.cached_property
    def asm(self):
        return {"tvbc": self.module.to_bytes(), "tvt": self.module.to_text()}

    @functools.cached_property
    def hash(self):
        """A text that is the same for the same bytecode."""
        return hashlib.sha256(self.module.to_bytes()).hexdigest()

    def _load(self):
        """Calls the hooks around loading, once."""
        if self._is_loaded:
            return
        self._is_loaded = True
        start, end = knobs.runtime.kernel_load_start_hook, knobs.runtime.kernel_load_end_hook
        if start.calls or end.calls:
            about = (self.module, None, self.name, self.metadata, self.hash)
            start(*about)
            end(*about)

    def is_stale(self):
        """Whether a global that the code was compiled with means something else by now."""
        for owner, name, value in self._globals:
            if isinstance(owner, JITFunction):
                found, now = owner._look_up(name)
            else:  # a module or class
                now = getattr(owner, name, self)
                found = now is not self
            if not found or (now is not value and not _same_constant(now, value)):
                return True
        return False

    def __getitem__(self, grid):
        return functools.partial(self.function.run, grid=grid, warmup=False, **self._options)

    def _init_handles(self):
        """Loads the code onto the device, which programs ask for before they read ``n_regs``; nothing to do here."""

    def __repr__(self):
        return f"<trivet kernel {self.name}>"


def _belongs_to_the_language(owner):
    name = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(owner, "__module__", "")
    return isinstance(name, str) and (name == "trivet" or name.startswith("trivet."))


def _same_constant(now, then):
    if isinstance(now, core.constexpr):
        now = now.value
    if isinstance(then, core.constexpr):
        then = then.value
    if isinstance(now, JITFunction) or type(now) is not type(then):
        return False
    try:
        return bool(now == then)
    except Exception:
        return False


def _options_key(options):
    """Options as a key of a dictionary; those that can't be hashed (``extern_libs``) by their text."""
    return tuple(
        (name, repr(value) if isinstance(value, (dict, list)) else value) for name, value in sorted(options.items())
    )


class KernelInterface:
    """What can be launched as ``kernel[grid](...)``: ``run`` does the work."""

    def __getitem__(self, grid):
        return functools.partial(self.run, grid=grid, warmup=False)

    def warmup(self, *args, grid=(1,), **kwargs):
        """Compiles for these arguments without running."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            f"cannot call the @jit function {self.__name__}() directly: launch it with {self.__name__}[grid](...), or call it "
            "from another @jit function"
        )


class JITFunction(KernelInterface):
    """A function in the Triton language: ``kernel[grid](...)`` launches it, other ``@jit`` functions may call it."""

    is_compile_time = True

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None,
                 noinline=None, repr=None, launch_metadata=None):  # fmt: skip
        if not callable(fn) or not hasattr(fn, "__code__"):
            raise TypeError(f"@jit expects a Python function, found {type(fn).__name__}")
        self.fn = fn
        self.version = version
        self.debug = debug
        self.noinline = noinline
        self.launch_metadata = launch_metadata
        self._repr = repr
        functools.update_wrapper(self, fn)
        self.__globals__ = fn.__globals__
        self.signature = inspect.signature(fn)
        dont, not_aligned = set(do_not_specialize or ()), set(do_not_specialize_on_alignment or ())
        self.params = [
            KernelParam(
                i,
                p,
                fn.__annotations__.get(p.name, p.annotation),
                not dont.isdisjoint((i, p.name)),
                not not_aligned.isdisjoint((i, p.name)),
            )
            for i, p in enumerate(self.signature.parameters.values())
        ]
        self.arg_names = [p.name for p in self.params]
        self.cache = {}
        # Compiled kernels by device, as programs written for Triton look for them. There is one device.
        self.device_caches = collections.defaultdict(lambda: (self.cache, self.cache, None, None, None))
        self.pre_run_hooks = []
        self._frontend_tree = None
        self._source_override = None
        self._exec_text = None
        if fn.__code__.co_filename.startswith("<"):
            self._exec_text = text_given_to_exec(fn)

    @property
    def src(self):
        """The source text, from ``def`` on."""
        _, _, lines, _, cut = self._source()
        text = "\n".join(line[cut:] for line in lines)
        return text[text.index("def ") :]

    @property
    def cache_key(self):
        """A hash of the source."""
        return hashlib.sha256(self.src.encode()).hexdigest()

    def _unsafe_update_src(self, source):
        """Compiles ``source`` (from ``def`` on) instead of the function's own text; what was compiled is forgotten."""
        self._source_override = source
        self._frontend_tree = None
        self.cache.clear()

    def add_pre_run_hook(self, hook):
        """``hook(*args, **kwargs)`` is called before each run with the arguments of the launch."""
        self.pre_run_hooks.append(hook)

    # --- what the frontend asks (python/bindings/python_host.cc)

    def _source(self):
        """As ``read_function``."""
        return read_function(self.fn, self._source_override, self._exec_text)

    def _parameter_kinds(self):
        return {p.name: (p.is_constexpr, p.annotation_type) for p in self.params}

    def _look_up(self, name):
        """(found, value) of a free name: closure, then globals, then Python's builtins."""
        code = self.fn.__code__
        if name in code.co_freevars:
            try:
                return True, self.fn.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:
                return False, None
        if name in self.fn.__globals__:
            return True, self.fn.__globals__[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    def _is_constexpr_global(self, name):
        annotation = self.fn.__globals__.get("__annotations__", {}).get(name)
        return annotation is core.constexpr or (isinstance(annotation, str) and annotation.endswith("constexpr"))

    def _default_of(self, name):
        default = self.signature.parameters[name].default
        return (False, None) if default is inspect.Parameter.empty else (True, default)

    # --- launching

    def run(self, *args, grid, warmup=False, **kwargs):
        """Compiles if needed, and runs every program of the grid unless ``warmup``. Gives the compiled kernel.

        Raises:
            LaunchError: arguments, options or grid are wrong.
            CompileError: the kernel can't be compiled for these arguments.
            KernelError: the kernel failed while running.
        """
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        bound, options = self._bind(args, kwargs)
        arguments = [Argument.of(p, bound[p.name]) for p in self.params]
        precision = knobs.dot_precision()
        if precision is not None:
            options.setdefault("default_dot_input_precision", precision)
        settings = (knobs.plain_globals(), knobs.portable())
        key = (tuple(a.key for a in arguments), _options_key(options), settings)
        try:
            kernel = self.cache.get(key)
        except TypeError:  # a compile-time value that can't be hashed
            key, kernel = None, None
        if kernel is None or kernel.is_stale():
            if self._call_hook(knobs.runtime.jit_cache_hook, key, bound, options, warmup):
                return None
            kernel = self._compile(arguments, options)
            if key is not None:
                self.cache[key] = kernel
            self._call_hook(knobs.runtime.jit_post_compile_hook, key, bound, options, warmup)
        if warmup:
            return kernel
        extents = grid_extents(grid, {**bound, **options}, self.__name__)
        if 0 in extents:
            return kernel
        kernel._load()
        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        if not enter.calls and not leave.calls:
            self._launch(kernel, extents, arguments)
            return kernel
        metadata = knobs.LaunchMetadata(kernel, tuple(extents), bound)
        enter(metadata)
        self._launch(kernel, extents, arguments)
        leave(metadata)
        return kernel

    def _call_hook(self, hook, key, bound, options, warmup):
        """Tells a hook of ``knobs.runtime`` what is compiled; gives its answer."""
        if hook is None:
            return None
        constants = {p.name: bound[p.name] for p in self.params if p.is_constexpr}
        chosen = {name: tuple(value.items()) if isinstance(value, dict) else value for name, value in options.items()}
        facts = {
            "constants": constants,
            "num_warps": 4,
            "num_stages": 3,
            "num_ctas": 1,
            "enable_fp_fusion": True,
            **chosen,
        }
        return hook(key=repr(key), repr=f"{self.__name__}{key}", fn=self, compile=facts, is_manual_warmup=warmup,
                    already_compiled=False)  # fmt: skip

    def _bind(self, args, kwargs):
        """Arguments by parameter name, and options."""
        bound, options = {}, {}
        positional = [p for p in self.params if p._parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
        variadic = next((p for p in positional if p.is_variadic), None)
        if variadic is not None:
            n = positional.index(variadic)
            bound[variadic.name] = tuple(args[n:])
            args = args[:n]
            positional = positional[:n]
        if len(args) > len(positional):
            raise LaunchError(f"{self.__name__}() takes {len(positional)} arguments, found {len(args)}")
        for parameter, value in zip(positional, args, strict=False):
            bound[parameter.name] = value
        names = set(self.arg_names)
        for name, value in kwargs.items():
            if name in names:
                if name in bound:
                    raise LaunchError(f"{self.__name__}() got multiple values for argument '{name}'")
                bound[name] = value
            elif name in _OPTIONS:
                options[name] = value
            else:
                raise LaunchError(
                    f"{self.__name__}() got an unexpected keyword argument '{name}'; its parameters are "
                    f"{', '.join(self.arg_names)}"
                )
        missing = [p.name for p in self.params if p.name not in bound and not p.has_default]
        if missing:
            raise LaunchError(f"{self.__name__}() is missing {len(missing)} argument(s): {', '.join(missing)}")
        for p in self.params:
            if p.name not in bound:
                bound[p.name] = p.default
        return bound, options

    def _compile(self, arguments, options):
        for p in self.params:
            if p.is_constexpr and (p.do_not_specialize or p.do_not_specialize_on_alignment):
                code = self.fn.__code__
                message = f"{p.name} marked as constexpr and listed in do_not_specialize"
                text = f"{code.co_filename}:{code.co_firstlineno}: error: {message}"
                raise CompileError([(code.co_filename, code.co_firstlineno, 1, message, text)], self.__name__)
        texts = [(name, str(value)) for name, value in options.items() if isinstance(value, (bool, int, float, str))]
        specs = [a.spec for a in arguments]
        if self.params and self.params[-1].is_variadic:
            specs = [*specs[:-1], *specs[-1][1]]
        module, diagnostics, used = _trivet.compile(self, specs, texts, knobs.plain_globals(), knobs.portable())
        if diagnostics:
            first = diagnostics[0][3]
            if first.startswith("static_assert failed"):
                raise CompileTimeAssertionFailure(diagnostics, self.__name__)
            raise CompileError(diagnostics, self.__name__) from ValueError(first)
        return CompiledKernel(self, module, used, options)

    def _launch(self, kernel, extents, arguments):
        words, allocations = [], []
        for argument in arguments:
            argument.append_to(words, allocations)
        setting = knobs.launch()
        trap = _trivet.launch(kernel.module, extents, words, allocations, setting.schedule, setting.threads, setting.seed,
                              setting.max_steps, sys.stdout.write)  # fmt: skip
        if trap is not None:
            error_class, message = trap
            raise getattr(errors, error_class)(message)

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.__qualname__})"


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):  # fmt: skip
    """Makes a Python function a kernel or a helper in the Triton language.

    Use as ``@jit`` or ``@jit(...)``. The body is compiled at the first launch for each signature; decorating checks nothing.
    """

    def decorate(function):
        return JITFunction(function, version=version, repr=repr, launch_metadata=launch_metadata,
                           do_not_specialize=do_not_specialize,
                           do_not_specialize_on_alignment=do_not_specialize_on_alignment, debug=debug,
                           noinline=noinline)  # fmt: skip

    return decorate if fn is None else decorate(fn)


__all__ = ["CompiledKernel", "ConstexprFunction", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "TensorWrapper",
           "Typed", "constexpr_function", "jit", "must_use_result", "reinterpret"]  # fmt: skip
