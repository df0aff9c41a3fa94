"""Plausible arguments for a kernel: several *variants* of them, the likeliest first.

A variant fixes what can't be known from the kernel: the element type of its tensors, whether flags are set, how large tiles
are, whether optional arguments are there. Values that the project states (autotuner configurations, heuristics, defaults) win.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from load import Stub
from usage import INTEGER, POINTER, Usage

import trivet.language as tl
from trivet.jit import JITFunction, Typed
from trivet.tools.tensor_descriptor import TensorDescriptor


@dataclasses.dataclass(frozen=True)
class Variant:
    """Free choices. tile: extents of tiles; size: compile-time sizes of dimensions; present: optional arguments are given.

    choice: which of several configurations and literals. uniform: statistics and scales have the element type of the rest.
    output: the element type of tensors that are written, where it differs.
    """

    element: Any = tl.float32
    flags: bool = False
    tile: int = 32
    size: int = 64
    present: bool = True
    choice: int = 0
    uniform: bool = False
    output: Any = None


VARIANTS = [
    Variant(),
    Variant(flags=True),
    Variant(element=tl.bfloat16),
    Variant(element=tl.float16, flags=True),
    Variant(present=False),
    Variant(tile=64),
    Variant(tile=64, flags=True, element=tl.bfloat16),
    Variant(tile=16, size=16),
    Variant(tile=128, size=128),
    Variant(tile=16, size=64, choice=1),
    Variant(tile=128, size=64, flags=True, choice=1),
    Variant(choice=1, flags=True, present=False),
    Variant(choice=2, element=tl.float16),
    Variant(choice=2, present=False, tile=64),
    Variant(size=1024),
    Variant(size=1024, flags=True, choice=1, element=tl.bfloat16),
    Variant(size=128, tile=16, present=False, flags=True),
    Variant(element=tl.bfloat16, uniform=True),
    Variant(element=tl.float16, uniform=True, flags=True, tile=16, size=16),
    Variant(output=tl.bfloat16, uniform=True),
    Variant(element=tl.int32),
    Variant(element=tl.int8),
    Variant(element=tl.float8e4nv),
    Variant(element=tl.uint8, tile=64),
    Variant(element=tl.int64),
]

_INTEGER_TENSOR = re.compile(
    r"ind(ices|ex|ptr)|(^|_)idxs?(_|$)|_ids?(_|$)|(^|_)ids(_|$)|cu_?(seq)?_?len|seq_?len|lens?(_ptr)?$|lengths?|offsets?(_ptr)?$|table|slots?|count|num_"
    r"|position|(^|_)map|target|label|tokens?_|expert_?id|sorted|req_to|start_loc|choice|block_tab|seed|perm|argmax|mapping|chunk_off",
    re.I,
)  # fmt: skip
_MASK_TENSOR = re.compile(r"mask|(^|_)cond(ition)?(_|$)|is_|flag", re.I)
_FULL_TENSOR = re.compile(r"lse|^(?-i:d?A(_\w+|[a-z]*)?(_ptr)?)$|(^|_)(m|delta|rstd|mean|scale|absmax)s?(_ptr)?$", re.I)
_FLOAT_SCALAR = re.compile(
    r"scal(e|ing)|eps|alpha|beta|(^|_)p$|prob|momentum|(^|_)lr$|inv_|theta|softcap|soft_cap|lambda|factor|smooth|temperature|ratio"
    r"|rate|gamma|weight_decay|threshold|slope|bound|min_val|max_val|value|norm|base|cap$|limit|decay|delta$|coef|multiplier|fill|step_size",
    re.I,
)  # fmt: skip
_POINTER_NAME = re.compile(r"_ptrs?$|^ptr|_pointer$|Ptr$")
_TILE_NAME = re.compile(r"BLOCK|TILE|CHUNK|^B[A-Z]{1,2}\d?$|^B[CTKVSDNM]+$|_BLK|^(SUB|GROUP)?_?B[A-Z]$", re.I)
_FLAG_NAME = re.compile(
    r"^(USE|IS|HAS|ENABLE|STORE|OUTPUT|DO|NEED|WITH|APPLY|SAVE|ADD|REVERSE|HEAD_FIRST|EVEN|CAUSAL|RETURN|INTERLEAVED|FORCE|ALLOW|"
    r"BIAS|DETERMINISTIC|PER_|LOAD|WRITE|SKIP|TRANS|NORM|UPCAST|CAST|COMPUTE|FUSE|REQUIRES|RETURN|SYMMETRIC|UNBIASED)|"
    r"(_FLAG|_ENABLED|CAUSAL|BIAS|PRESENT|VARLEN|_FIRST|_ONLY|^training|^is_|^has_|^use_)",
    re.I,
)  # fmt: skip
_TYPE_NAME = re.compile(r"dtype|(^|_)ty(pe)?$|_type$|acc_t", re.I)
_COUNT_NAME = re.compile(
    r"^(NUM|N_|NH$|NT$|NS$|NK$|NV$|NC$|NSTEP)|_NUM$|count|STAGES|n_iter|ITER|steps|rounds|GROUP|^G$|^HQ?$|topk|top_k|TOPK|split|warps|unroll|ndim|ways|size_ratio",
    re.I,
)


class Guesser:
    """Makes arguments for one kernel."""

    def __init__(self, function: JITFunction, usage: Usage, configs: list[Any], heuristics: dict[str, Any]) -> None:
        self._function, self._usage = function, usage
        self._configs, self._heuristics = configs, heuristics

    def variants(self) -> Iterator[dict[str, Any]]:
        """Arguments by parameter name, one dict a variant."""
        for variant in VARIANTS:
            yield self._arguments(variant)

    def _arguments(self, variant: Variant) -> dict[str, Any]:
        fixed: dict[str, Any] = {}
        config = None
        if self._configs:
            config = self._configs[variant.choice % len(self._configs)]
            fixed.update({k: v for k, v in getattr(config, "kwargs", {}).items() if not isinstance(v, Stub)})
        values: dict[str, Any] = {}
        computed = []
        for parameter in self._function.params:
            if parameter.is_variadic:
                values[parameter.name] = ()
            elif parameter.name in fixed:
                values[parameter.name] = fixed[parameter.name]
            elif parameter.name in self._heuristics:
                computed.append(parameter)
            elif parameter.is_constexpr:
                values[parameter.name] = self._constant(parameter, variant)
            else:
                values[parameter.name] = self._run_time(parameter, variant)
        for parameter in computed:
            try:
                value = self._heuristics[parameter.name](dict(self._seen(values)))
                if isinstance(value, Stub) or not isinstance(value, (int, float, bool, str, type(None))):
                    raise ValueError
            except Exception:
                value = self._constant(parameter, variant)
            values[parameter.name] = value
        hook = getattr(config, "pre_hook", None)
        if hook is not None:
            with contextlib.suppress(Exception):
                hook(values)  # gives descriptors their block shapes
        return values

    def _seen(self, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """What heuristics see: tensors and sizes of real launches."""
        import torch

        for name, value in values.items():
            if isinstance(value, Typed):
                yield name, torch.empty(16, 16) if value.dtype.is_ptr() else 1.0 if value.dtype.is_floating() else 64
            else:
                yield name, value

    # --- run-time parameters

    def _run_time(self, parameter: Any, variant: Variant) -> Any:
        name, usage = parameter.name, self._usage
        if name in usage.optional and not variant.present:
            return None
        if parameter.annotation_type:
            return Typed(tl.dtype(parameter.annotation_type))
        if name in usage.called:
            return _identity
        if name in usage.types:
            return tl.float32
        if name in usage.shapes:
            return variant.tile
        if name in usage.descriptors:
            import torch

            rank = usage.descriptors[name]
            dtype = torch.float16 if variant.element == tl.float16 else torch.bfloat16
            base = torch.empty((64,) * rank, dtype=dtype)
            block = [1] * (rank - 2) + [variant.tile] * min(rank, 2)
            return TensorDescriptor(base, list(base.shape), list(base.stride()), block)
        kind = usage.kinds.get(name)
        if name in usage.unpacked and (kind == POINTER or "ptr" in name):
            return (Typed(tl.pointer_type(self._element(name, variant))),) * usage.unpacked[name]
        if kind == POINTER or (kind is None and _POINTER_NAME.search(name)):
            return Typed(tl.pointer_type(self._element(name, variant)))
        if name in usage.unpacked and kind is None:
            return (Typed(tl.int32),) * usage.unpacked[name]
        if usage.elements.get(name) == "address":
            return Typed(tl.int64)
        if name in usage.strings:
            return self._choose(usage.strings[name], variant)
        if parameter.has_default and isinstance(parameter.default, (str, JITFunction)):
            return parameter.default
        if parameter.has_default and isinstance(parameter.default, bool):
            return Typed(tl.int1)
        if "seed" in name.lower():
            return Typed(tl.int64)
        if kind != INTEGER and (
            _FLOAT_SCALAR.search(name) or (parameter.has_default and isinstance(parameter.default, float))
        ):
            return Typed(tl.float32)
        return Typed(tl.int32)

    def _element(self, name: str, variant: Variant) -> Any:
        demanded = self._usage.elements.get(name)
        if variant.output is not None and name in self._usage.stored and demanded is None:
            return variant.output
        if demanded == "address":
            return tl.int64
        if demanded == POINTER:
            return tl.pointer_type(variant.element)
        if _MASK_TENSOR.search(name) and demanded is None:
            return tl.int1
        if demanded == INTEGER or _INTEGER_TENSOR.search(name):
            return (
                tl.int32
                if variant.element not in (tl.uint8, tl.int64)
                else variant.element
                if demanded == INTEGER
                else tl.int32
            )
        if _FULL_TENSOR.search(name) and not variant.uniform and variant.element not in (tl.int32, tl.int64):
            return tl.float32
        return variant.element

    # --- compile-time parameters

    def _choose(self, values: list[Any], variant: Variant) -> Any:
        distinct = list(dict.fromkeys(values))
        if all(isinstance(v, int) for v in distinct):
            distinct.append(max(distinct) + 1)  # what the last else is for
        return distinct[variant.choice % len(distinct)]

    def _constant(self, parameter: Any, variant: Variant) -> Any:
        name, usage = parameter.name, self._usage
        if parameter.has_default and variant.choice == 0 and not isinstance(parameter.default, Stub):
            default = parameter.default
            if not (isinstance(default, bool) and variant.flags):
                return default
        if name in usage.strings:
            return self._choose(usage.strings[name], variant)
        if name in usage.called:
            return _identity
        if name in usage.type_names:
            return "fp32"
        if name in usage.bits:
            return 3
        if name not in usage.types and re.search(r"(min|max)?_?value$", name, re.I):
            return 0
        if name in usage.types or (_TYPE_NAME.search(name) and name not in usage.numbers):
            return tl.float32 if variant.element in (tl.int32, tl.int64, tl.int8, tl.uint8) else variant.element
        if re.search(r"FACTOR|SLICE", name) and name not in usage.numbers:
            return 2
        if _TILE_NAME.search(name) and not (name in usage.flags and _FLAG_NAME.search(name)):
            return variant.tile
        if (
            (name in usage.flags or _FLAG_NAME.search(name))
            and name not in usage.extents
            and name not in usage.numbers
            and usage.kinds.get(name) != INTEGER
        ):
            return variant.flags
        if name in usage.numbers and name not in usage.extents:
            return self._choose(usage.numbers[name], variant)
        if name in usage.optional and not variant.present:
            return None
        if "stride" in name.lower():
            return 64
        if usage.kinds.get(name) != INTEGER and name not in usage.extents and _FLOAT_SCALAR.search(name):
            return 0.5
        if _COUNT_NAME.search(name):
            return 2 if variant.choice == 0 else 4
        if re.search(r"bits?$|_bit_", name, re.I):
            return 4
        if name in usage.extents or usage.kinds.get(name) == INTEGER or name.isupper():
            return variant.size
        return variant.flags if name.islower() and name in usage.flags else variant.size


def _identity(x):  # type: ignore[no-untyped-def]
    return x


_identity = JITFunction(_identity)


def wrapper_source(
    function: JITFunction, node: ast.FunctionDef, usage: Usage, arguments: dict[str, Any], tile: bool
) -> tuple[str, dict[str, Any]]:
    """A kernel that calls a helper which no kernel of the project reaches: (text, compile-time values it takes).

    Scalars of the kernel become scalars of the helper; with ``tile`` parameters that are neither pointers nor integers get
    tiles, of rank 2 where the helper indexes or multiplies matrices.
    """
    shape = "[16, 16]" if usage.matrix or usage.tiles else "[16]"
    header, body, call, constants = [], [], [], {}
    for name, value in arguments.items():
        if isinstance(value, TensorDescriptor):
            header.append(f"a_{name}")
            call.append(f"{name}=a_{name}")
            constants[f"a_{name}"] = value
        elif name in usage.tiles and tile is not None and not _is_pointer(value):
            body.append(f"    v_{name} = tl.arange(0, {value if isinstance(value, int) else 32})")
            call.append(f"{name}=v_{name}")
        elif isinstance(value, Typed) and tile and not value.dtype.is_ptr() and usage.kinds.get(name) != INTEGER:
            body.append(f"    v_{name} = tl.full({shape}, 1, tl.float32)")
            call.append(f"{name}=v_{name}")
        elif isinstance(value, Typed):
            header.append(f"a_{name}")
            call.append(f"{name}=a_{name}")
            constants[f"a_{name}"] = value
        else:
            header.append(f"a_{name}: tl.constexpr")
            call.append(f"{name}=a_{name}")
            constants[f"a_{name}"] = value
    text = (
        f"def wrapper(F: tl.constexpr{''.join(', ' + h for h in header)}):\n"
        + "\n".join(body)
        + f"\n    F({', '.join(call)})\n"
    )
    return text, constants


def _is_pointer(value: Any) -> bool:
    return isinstance(value, Typed) and value.dtype.is_ptr()
