"""``triton.runtime.jit``: where programs written for Triton look for ``JITFunction`` and its relatives."""

from ..jit import (
    CompiledKernel,
    JITFunction,
    KernelInterface,
    KernelParam,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    jit,
    reinterpret,
)

# Spellings of element types, and the short ones of signatures.
type_canonicalisation_dict = {
    "bool": "u1", "int1": "u1", "uint1": "u1", "i1": "u1", "float8e4nv": "fp8e4nv", "float8_e4m3fn": "fp8e4nv",
    "float8e5": "fp8e5", "float8_e5m2": "fp8e5", "float8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16",
    "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int": "i32", **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}, **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    "void": "void",
}  # fmt: skip
type_canonicalisation_dict.update({short: short for short in list(type_canonicalisation_dict.values())})

__all__ = ["CompiledKernel", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "TensorWrapper",
           "constexpr_function", "jit", "reinterpret", "type_canonicalisation_dict"]  # fmt: skip
