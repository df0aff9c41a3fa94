"""What Triton's own unit tests, and those of projects like it, import from ``triton._internal_testing``.

Questions about hardware are answered for the device in use; here that is this machine's processor and the interpreter.
"""

import re

import numpy as np
import pytest
import torch

from . import language as tl
from . import runtime
from .jit import TensorWrapper, reinterpret
from .signatures import parse_type

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["u" + name for name in int_dtypes]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def get_current_target():
    """The target of the active driver."""
    return runtime.driver.active.get_current_target()


def is_interpreter():
    """Whether kernels run on an interpreter: tests leave out what only machine code has."""
    return _on("cpu")


def is_cpu():
    """Whether kernels become machine code of the processor."""
    return False


def _on(backend):
    return get_current_target().backend == backend


def is_cuda():
    return _on("cuda")


def is_hip():
    return _on("hip")


def is_xpu():
    return _on("xpu")


def _never():
    return False


def _capability():
    return torch.cuda.get_device_capability() if is_cuda() else (0, 0)


def is_ampere_or_newer():
    return _capability()[0] >= 8


def is_hopper():
    return _capability()[0] == 9


def is_hopper_or_newer():
    return _capability()[0] >= 9


def is_blackwell():
    return _capability()[0] in (10, 11)


def is_blackwell_ultra():
    return _capability() == (10, 3)


def is_sm12x():
    return _capability()[0] == 12


# AMD's devices are not supported.
is_hip_cdna = is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip_cdna3_or_newer = _never
is_hip_rdna = is_hip_rdna3 = is_hip_rdna4 = is_hip_gfx1250 = _never


def get_hip_lds_size():
    return 65536


def supports_tma(byval_only=False):
    return is_interpreter() or is_hopper_or_newer()


def supports_ws():
    return is_interpreter() or is_hopper_or_newer()


def tma_skip_msg(byval_only=False):
    return "needs tensor descriptors"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """Random values of a type that NumPy may not have; integers are never 0, so that they can divide."""
    shape = (shape,) if isinstance(shape, int) else shape
    rs = np.random.RandomState(seed=17) if rs is None else rs
    if dtype_str in integral_dtypes:
        info = np.iinfo(dtype_str)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        values = rs.randint(low, high, shape, dtype=dtype_str)
        return np.where(values == 0, values.dtype.type(1), values)
    if dtype_str and "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)  # bit patterns of moderate numbers
    values = rs.normal(0, 1, shape)
    if dtype_str in float_dtypes:
        return values.astype(dtype_str)
    if dtype_str == "bfloat16":
        bits = values.astype(np.float32).view(np.uint32) >> np.uint32(16) << np.uint32(16)
        return bits.view(np.float32)
    if dtype_str in ("bool", "int1", "bool_"):
        return values > 0
    raise RuntimeError(f"unknown dtype {dtype_str}")


def to_triton(x, device, dst_type=None):
    """A NumPy array as a tensor of ``dst_type``, wrapped where PyTorch lacks the type."""
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name[1:]), device=device), getattr(tl, name))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, getattr(tl, dst_type))
    return tensor.bfloat16() if dst_type == "bfloat16" and name == "float32" else tensor


def to_numpy(x):
    """The values of a tensor as a NumPy array; bfloat16 comes as float32."""
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if isinstance(x, torch.Tensor):
        return (x.float() if x.dtype is torch.bfloat16 else x).cpu().numpy()
    raise ValueError(f"not a tensor: {x}")


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def torch_dtype_name(dtype):
    """``"int64"`` for ``torch.int64``; the name of an element type of the language."""
    if isinstance(dtype, tl.dtype):
        return dtype.name
    found = re.fullmatch(r"torch\.(\w+)", str(dtype))
    if found is None:
        raise TypeError(f"not an element type: {type(dtype)}")
    return found[1]


_SPELLINGS = {"bool": "i1", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
              "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8e4nv": "fp8e4nv", "float8e5": "fp8e5"}  # fmt: skip


def str_to_triton_dtype(name):
    return parse_type(_SPELLINGS.get(name, name))


def default_alloc_fn(size, align, stream):
    return torch.empty(size, dtype=torch.int8)


def _fresh_knobs_impl(skipped_attr=None):
    """(fresh, restore): the first forgets all that was assigned to ``knobs`` and gives it, the second puts it back."""
    from . import knobs

    names = {"autotuning", "cache", "compilation", "language", "runtime"} - set(skipped_attr or ())
    groups = [getattr(knobs, name) for name in sorted(names)]
    assigned = [dict(vars(group)) for group in groups]

    def fresh():
        for group in groups:
            group.reset()
        return knobs

    def restore():
        for group, values in zip(groups, assigned, strict=True):
            group.reset()
            vars(group).update(values)

    return fresh, restore
