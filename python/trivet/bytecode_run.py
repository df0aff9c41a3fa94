"""``trivet run X.tvbc``: a kernel from a bytecode file, on arrays and numbers that the command line spells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from . import knobs, signatures, tensors
from .language import core
from .tiers.interpreter import run_module

# Element types: as the bytecode spells them, and as the language does.
_ELEMENTS = {"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
             "u32": "uint32", "u64": "uint64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3": "fp8e4nv",
             "f8e5m2": "fp8e5", "f8e4b8": "fp8e4b8", "f8e5b16": "fp8e5b16", "f8e4b15": "fp8e4b15"}  # fmt: skip


def _numpy_dtype(name: str) -> Any:
    """The NumPy type of an element type; ml_dtypes' if it is installed, else unsigned integers of the same width."""
    import numpy

    plain = {"int1": "bool", "fp16": "float16", "fp32": "float32", "fp64": "float64"}
    narrow = {"bf16": "bfloat16", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp8e4b8": "float8_e4m3fnuz",
              "fp8e5b16": "float8_e5m2fnuz"}  # fmt: skip
    if name in narrow or name == "fp8e4b15":
        try:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, narrow[name]))
        except (ImportError, KeyError):
            return numpy.dtype(f"uint{core.dtype(name).primitive_bitwidth}")
    return numpy.dtype(plain.get(name, name))


def _is_tensor(text: str) -> bool:
    return text.endswith(".npy") or text.split(":")[0] in ("zeros", "ones", "random")


def _tensor(text: str, seed: int) -> Any:
    """The array that ``FILE.npy`` or ``KIND:TYPE:EXTENTS`` stands for.

    Raises:
        ValueError: there is no such file, or no such array can be made.
    """
    import numpy

    if text.endswith(".npy"):
        return numpy.load(text)
    kind, _, rest = text.partition(":")
    dtype, _, shape = rest.partition(":")
    element = signatures.parse_type(dtype)
    if element.is_ptr():
        raise ValueError(f"there are no tensors of {dtype}")
    if not all(part.isdigit() for part in shape.split("x")):
        raise ValueError(f"expected {kind}:TYPE:EXTENTS, such as {kind}:fp32:64x128")
    extents = tuple(int(part) for part in shape.split("x"))
    if kind == "random":
        return numpy.random.default_rng(seed).random(extents).astype(_numpy_dtype(element.name))
    return numpy.full(extents, 1 if kind == "ones" else 0, dtype=_numpy_dtype(element.name))


def _number(text: str, dtype: core.dtype) -> bool | int | float:
    """The value of a scalar of this type.

    Raises:
        ValueError: the text is no such value.
    """
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text) if dtype.is_floating() else int(text, 0)
    except ValueError:
        raise ValueError(f"expected {'a number' if dtype.is_floating() else 'an integer'}") from None


class Inputs(NamedTuple):
    """What the parameters of a kernel are given."""

    words: list[list[int]]
    allocations: list[tuple[Any, ...]]
    arrays: dict[str, Any]  # tensors, by the parameter's name and by its number


def read_inputs(parameters: Sequence[tuple[str, str]], texts: Sequence[str], seed: int) -> Inputs:
    """The arguments that the command line spells.

    Args:
        parameters: (name, type) of each parameter of the kernel.
        texts: one for each.
        seed: of ``random:`` tensors.

    Raises:
        ValueError: a text that is wrong for its parameter; the message names both.
    """
    inputs = Inputs([], [], {})
    for number, ((name, kind), text) in enumerate(zip(parameters, texts, strict=True)):
        name = name or str(number)
        about = f"--arg {text} for parameter '{name}' ({kind})"
        try:
            if kind.startswith("ptr<"):
                if not _is_tensor(text):
                    raise ValueError("it takes a tensor")
                array = _tensor(text, seed + number)
                tensor = tensors.describe(name, array)
                _check_element(kind[4:-1], tensor.dtype)
                inputs.arrays[name] = inputs.arrays[str(number)] = array
                inputs.words.append([tensor.address])
                inputs.allocations.append(tensor.allocation)
            elif kind in _ELEMENTS:
                if _is_tensor(text):
                    raise ValueError("it takes a number")
                dtype = core.dtype(_ELEMENTS[kind])
                inputs.words.append([signatures.word_of(name, _number(text, dtype), dtype)])
            else:
                raise ValueError("the command line can't make one")
        except (ValueError, MemoryError, EOFError, TypeError) as error:
            raise ValueError(f"{about}: {error}") from None
    return inputs


def _check_element(wanted: str, found: core.dtype) -> None:
    """An array may have the parameter's element type, or be unsigned integers of its width where NumPy has no such type."""
    if wanted not in _ELEMENTS or found.name == _ELEMENTS[wanted]:
        return
    same_width = found.itemsize == core.dtype(_ELEMENTS[wanted]).itemsize
    if wanted.startswith(("bf16", "f8")) and found.is_int_unsigned() and same_width:
        return
    raise ValueError(f"the tensor has {found.name} elements")


def run(module: Any, grid: Sequence[int], inputs: Inputs, setting: knobs.LaunchKnobs) -> None:
    """Runs the module's kernel on the interpreter; tensors change in place.

    Raises:
        KernelError: it failed.
    """
    run_module(module, grid, inputs.words, inputs.allocations, setting)
