"""Which argument of a launch goes to which parameter.

That depends on the *form* of the call alone: how many positional arguments it has and which keywords. Each form is worked out
once, with all its errors; a launch of a known form only picks its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .errors import LaunchError
from .parameters import KernelParam

# Keywords of a launch that are not parameters of the kernel. They choose how a GPU runs it and change no result.
OPTIONS = frozenset(
    "num_warps num_stages num_ctas maxnreg num_buffers_warp_spec num_consumer_groups reg_dec_producer reg_inc_consumer "
    "enable_fp_fusion launch_cooperative_grid launch_pdl sanitize_overflow debug ptx_version cluster_dims extern_libs "
    "allow_fp8e4nv max_num_imprecise_acc_default supported_fp8_dtypes deprecated_fp8_dtypes default_dot_input_precision "
    "arch backend_name ir_override instrumentation_mode waves_per_eu matrix_instr_nonkdim kpack schedule_hint stream "
    "device device_type num_cpu_threads".split()
)


class _Plan(NamedTuple):
    """How calls of one form are bound."""

    variadic_at: int | None  # position of the first argument that a `*args` parameter collects
    rest: tuple[tuple[str | None, Any], ...]  # after the positional ones: (keyword, ignored) or (None, default)
    options: tuple[str, ...]


class Binder:
    """Binds calls of one function."""

    def __init__(self, name: str, parameters: Sequence[KernelParam]) -> None:
        self._name = name
        self._parameters = parameters
        self._plans: dict[tuple[int, tuple[str, ...]], _Plan] = {}

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values in the order of the parameters, and the options of the launch.

        Raises:
            LaunchError: an argument too many, missing, given twice, or unknown.
        """
        form = (len(args), tuple(kwargs))
        plan = self._plans.get(form)
        if plan is None:
            plan = self._plans[form] = self._plan(*form)
        if plan.variadic_at is None:
            values = list(args)
        else:
            values = [*args[: plan.variadic_at], args[plan.variadic_at :]]
        for keyword, default in plan.rest:
            values.append(default if keyword is None else kwargs[keyword])
        return values, {name: kwargs[name] for name in plan.options}

    def _plan(self, number_of_positional: int, keywords: tuple[str, ...]) -> _Plan:
        positional = [p for p in self._parameters if not p.is_keyword_only]
        variadic_at = next((i for i, p in enumerate(positional) if p.is_variadic), None)
        if variadic_at is None:
            if number_of_positional > len(positional):
                raise LaunchError(f"{self._name}() takes {len(positional)} arguments, found {number_of_positional}")
            taken = number_of_positional
        else:
            taken = min(number_of_positional, variadic_at)
        by_position = {p.name for p in positional[:taken]}
        names = {p.name for p in self._parameters if not p.is_variadic}
        options = []
        for keyword in keywords:
            if keyword in by_position:
                raise LaunchError(f"{self._name}() got multiple values for argument '{keyword}'")
            if keyword in names:
                continue
            if keyword not in OPTIONS:
                raise LaunchError(
                    f"{self._name}() got an unexpected keyword argument '{keyword}'; its parameters are "
                    f"{', '.join(p.name for p in self._parameters)}"
                )
            options.append(keyword)
        given = set(keywords)
        after = [p for p in self._parameters if p.name not in by_position]
        missing = [p.name for p in after if p.name not in given and not p.has_default and not p.is_variadic]
        if missing:
            raise LaunchError(f"{self._name}() is missing {len(missing)} argument(s): {', '.join(missing)}")
        if variadic_at is not None and taken < variadic_at:  # `*args` is empty, and stands behind what keywords give
            variadic_at = None
        rest: list[tuple[str | None, Any]] = []
        for p in after:
            if p.is_variadic:
                if variadic_at is None:
                    rest.append((None, ()))
            else:
                rest.append((p.name, None) if p.name in given else (None, p.default))
        return _Plan(variadic_at, tuple(rest), tuple(options))
