"""``autotune`` and ``heuristics``: parameters of a kernel that are chosen at the launch.

Without a GPU the configurations are timed on the interpreter. What is fastest there need not be fastest on a GPU, but every
configuration is compiled and run, so mistakes in any of them show.
"""

from __future__ import annotations

import builtins
import hashlib
import inspect
import json
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

from .. import knobs
from ..jit import JITFunction, KernelInterface
from .errors import AutotunerError, OutOfResources


class Config:
    """One choice of compile-time parameters and launch options.

    Args:
        kwargs: values of ``tl.constexpr`` parameters, by name.
        num_warps, num_stages, num_ctas, maxnreg: launch options; they matter on a GPU only.
        num_cpu_threads: an option of Triton's fork for processors; TRIVET_THREADS says how many threads there are here.
        pre_hook: called with the arguments by name before a launch with this configuration.
    """

    def __init__(self, kwargs: Any, num_warps: int = 4, num_stages: int = 3, num_ctas: int = 1, maxnreg: Any = None, pre_hook: Any = None, ir_override: Any = None,
                 num_cpu_threads: Any = None) -> None:  # fmt: skip
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override
        self.num_cpu_threads = num_cpu_threads

    def all_kwargs(self) -> Any:
        """Parameters and launch options together, as a launch takes them."""
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages,
                   "maxnreg": self.maxnreg, "ir_override": self.ir_override, "num_cpu_threads": self.num_cpu_threads}  # fmt: skip
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self) -> str:
        parts = [f"{k}: {v}" for k, v in self.kwargs.items()]
        parts += [f"num_warps: {self.num_warps}", f"num_ctas: {self.num_ctas}", f"num_stages: {self.num_stages}",
                  f"maxnreg: {self.maxnreg}"]  # fmt: skip
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"Config({self})"

    def _identity(self) -> Any:
        return (*sorted((k, repr(v)) for k, v in self.all_kwargs().items()), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._identity())

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()


class Autotuner(KernelInterface):
    """A kernel whose configuration is measured at the first launch for each key."""

    def __init__(self, fn: Any, arg_names: Any, configs: list[Config], key: Any, reset_to_zero: Any, restore_value: Any, pre_hook: Any = None, post_hook: Any = None,
                 prune_configs_by: Any = None, warmup: Any = None, rep: Any = None, use_cuda_graph: bool = False, do_bench: Any = None, cache_results: bool = False) -> None:  # fmt: skip
        self.configs = list(configs) if configs else [Config({})]
        self.keys = list(key)
        self.arg_names = arg_names
        self.fn = fn
        self.base_fn = fn
        while not isinstance(self.base_fn, JITFunction) and hasattr(self.base_fn, "fn"):
            self.base_fn = self.base_fn.fn
        self.__name__ = getattr(self.base_fn, "__name__", "kernel")
        self.cache: dict[Any, Config] = {}
        self.configs_timings: dict[Config, Any] = {}
        self.best_config: Config | None = None
        self.nargs: dict[str, Any] = {}  # of the launch that goes on
        self.bench_time: float | None = None
        self.cache_results = cache_results or knobs.autotuning.cache
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self._restore_copies: dict[str, Any] = {}
        self.pre_hook = pre_hook or self._default_pre_hook
        self.post_hook = post_hook or self._default_post_hook
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups = 5 if warmup is None else warmup
        self.num_reps = 20 if rep is None else rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench

    # --- buffers around a trial run

    def _default_pre_hook(self, arguments: Any, reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if arguments[name] is not None:  # an optional tensor that wasn't given
                _fill_zero(arguments[name])
        if not reset_only:
            self._restore_copies = {
                name: _copy(arguments[name]) for name in self.restore_value if arguments[name] is not None
            }

    def _default_post_hook(self, arguments: Any, exception: BaseException | None) -> None:
        for name, copy in self._restore_copies.items():
            _copy_into(arguments[name], copy)
        self._restore_copies = {}

    # --- choosing

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Any:
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(
                f"conflicting meta-parameters: {', '.join(sorted(conflicts))}; make sure that you don't re-define auto-tuned symbols"
            )
        current = {**meta, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def call() -> None:
            if config.pre_hook is not None:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self.post_hook(full, exception=error)
                finally:
                    raise
            self.post_hook(full, exception=None)

        try:
            return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except OutOfResources:
            return [float("inf")] * 3

    def do_bench(self, call: Callable[[], Any], quantiles: Any) -> Any:
        """Times one configuration: the function given to ``autotune``, else ``testing.do_bench``."""
        if self._do_bench is not None:
            return self._do_bench(call, quantiles=quantiles)
        from ..testing import do_bench

        return do_bench(call, warmup=self.num_warmups, rep=self.num_reps, quantiles=quantiles)

    def prune_configs(self, kwargs: Any) -> Any:
        """The configurations worth measuring for these arguments."""
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(self.configs, self.nargs, **kwargs)
            if not configs:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return at least one config."
                )
        if self.perf_model:
            top = self.configs_top_k
            if isinstance(top, float):
                if top > 1.0:
                    raise TypeError("top_k must be an integer or a fraction of at most 1.0")
                top = int(len(self.configs) * top)
            if len(configs) > top:
                estimate = {c: self.perf_model(**self.nargs, **kwargs, **c.all_kwargs()) for c in configs}
                configs = sorted(configs, key=lambda c: estimate[c])[:top]
        return list(configs)

    def _cache_key(self, args_by_name: Any) -> Any:
        key = [args_by_name[name] for name in self.keys if name in args_by_name]
        key += [str(value.dtype) for value in args_by_name.values() if hasattr(value, "dtype")]
        return tuple(k if _is_hashable(k) else repr(k) for k in key)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launches with the best configuration for these arguments, measuring first if they are new."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        tuned_now = False
        if len(self.configs) > 1:
            key = self._cache_key({k: v for k, v in {**self.nargs, **kwargs}.items() if k in self.arg_names})
            if key not in self.cache and not self._load_result(key):
                configs = self.prune_configs(kwargs)
                began = time.perf_counter()
                timings = {config: self._bench(*args, config=config, **kwargs) for config in configs}
                self.bench_time = time.perf_counter() - began
                self.cache[key] = builtins.min(timings, key=timings.__getitem__)
                self.configs_timings = timings
                self.pre_hook({**self.nargs, **kwargs, **self.cache[key].all_kwargs()}, **self._reset_only())
                self._save_result(key)
                tuned_now = True
                if knobs.autotuning.print:
                    print(f"Triton autotuning for function {self.__name__},\nwith key as {key},\nfinished after "
                          f"{self.bench_time:.2f}s,\nbest config selected: {self.cache[key]};")  # fmt: skip
            config = self.cache[key]
        else:
            config = self.configs[0]
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        result = self.fn.run(*args, **kwargs, **config.all_kwargs())
        self.nargs = {}
        self.tuned_now = tuned_now
        return result

    def _reset_only(self) -> Any:
        return {} if self.user_defined_pre_hook else {"reset_only": True}

    def warmup(self, *args: Any, **kwargs: Any) -> Any:
        """Compiles every configuration without running."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        result = [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]
        self.nargs = {}
        return result

    # --- results on disk (cache_results=True)

    def _result_path(self, key: Any) -> Any:
        text = json.dumps([self.__name__, _source_of(self.base_fn), repr(key), [str(c) for c in self.configs]])
        return pathlib.Path(knobs.cache.dir) / "autotune" / (hashlib.sha256(text.encode()).hexdigest() + ".json")

    def _can_cache(self) -> Any:
        return self.cache_results and all(c.pre_hook is None for c in self.configs)

    def _load_result(self, key: Any) -> bool:
        if not self._can_cache():
            return False
        try:
            best = json.loads(self._result_path(key).read_text())["best"]
        except (OSError, ValueError, KeyError, TypeError):
            return False  # absent or damaged: measured again
        for config in self.configs:
            if str(config) == best:
                self.cache[key] = config
                return True
        return False

    def _save_result(self, key: Any) -> None:
        if not self._can_cache():
            return
        path = self._result_path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps({"best": str(self.cache[key])}))
            os.replace(temporary, path)
        except OSError:
            pass  # a cache that can't be written costs time, not results

    def __repr__(self) -> str:
        return f"Autotuner({self.fn!r})"


def _source_of(fn: Any) -> Any:
    try:
        return inspect.getsource(fn.fn)
    except (OSError, TypeError, AttributeError):
        return ""


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _fill_zero(tensor: Any) -> None:
    if hasattr(tensor, "zero_"):
        tensor.zero_()
    else:
        tensor[...] = 0


def _copy(tensor: Any) -> Any:
    return tensor.clone() if hasattr(tensor, "clone") else tensor.copy()


def _copy_into(tensor: Any, source: str) -> None:
    if hasattr(tensor, "copy_"):
        tensor.copy_(source)
    else:
        tensor[...] = source


def autotune(configs: list[Config], key: Any, prune_configs_by: Any = None, reset_to_zero: Any = None, restore_value: Any = None, pre_hook: Any = None, post_hook: Any = None,
             warmup: Any = None, rep: Any = None, use_cuda_graph: bool = False, do_bench: Any = None, cache_results: bool = False) -> Any:  # fmt: skip
    """Decorator: the best of ``configs`` is measured whenever an argument named in ``key`` has a new value.

    ``reset_to_zero`` names tensors cleared before each trial run, ``restore_value`` tensors put back after it.
    ``prune_configs_by`` may hold ``early_config_prune``, ``perf_model`` and ``top_k``.
    """

    def decorate(fn: Any) -> Any:
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep, use_cuda_graph=use_cuda_graph,
                         do_bench=do_bench, cache_results=cache_results)  # fmt: skip

    return decorate


class Heuristics(KernelInterface):
    """A kernel some of whose parameters are computed from the others at each launch."""

    def __init__(self, fn: Any, arg_names: Any, values: Any) -> None:
        self.fn = fn
        self.base_fn = fn
        while not isinstance(self.base_fn, JITFunction) and hasattr(self.base_fn, "fn"):
            self.base_fn = self.base_fn.fn
        self.__name__ = getattr(self.base_fn, "__name__", "kernel")
        self.values = values
        self.arg_names = arg_names

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the parameters, in order, each seeing those before it, and launches."""
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args, strict=False)), **kwargs})
        return self.fn.run(*args, **kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> Any:
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args, strict=False)), **kwargs})
        return self.fn.warmup(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Heuristics({self.fn!r})"


def heuristics(values: Any) -> Any:
    """Decorator: ``values`` maps parameters to functions of the arguments by name."""

    def decorate(fn: Any) -> Any:
        return Heuristics(fn, fn.arg_names, values)

    return decorate
