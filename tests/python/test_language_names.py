"""Every public name of Triton's language (releases 3.6 and 3.7) means something here."""

from __future__ import annotations

import pytest

import trivet.language as tl

# triton.language.__all__ of both releases together.
NAMES = """
PropagateNan TRITON_MAX_TENSOR_NUMEL abs add advance arange argmax argmin associative_scan assume atomic_add atomic_and atomic_cas
atomic_max atomic_min atomic_or atomic_xchg atomic_xor bfloat16 bitonic_merge block_type broadcast broadcast_to cast cat cdiv ceil clamp
condition const constexpr constexpr_type cos cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled dtype erf exp
exp2 expand_dims expect_zero extra fdiv flip float16 float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma
full gather histogram inline_asm_elementwise int1 int16 int32 int64 int8 interleave join load load_tensor_descriptor log log2
make_block_ptr make_tensor_descriptor map_elementwise math max max_constancy max_contiguous maximum min minimum mul multiple_of
num_programs pair_uniform_to_normal permute philox philox_impl pi32_t pointer_type program_id rand rand4x randint randint4x randn
randn4x range ravel reduce reduce_or reshape rsqrt sigmoid sin slice softmax sort split sqrt sqrt_rn squeeze static_assert static_print
static_range store store_tensor_descriptor sub sum swizzle2d target_info tensor tensor_descriptor to_tensor topk trans tuple uint16
uint32 uint64 uint8 uint_to_uniform_float umulhi unsqueeze view void where xor_sum zeros zeros_like
""".split()

# What the submodules have beyond that.
OF_MODULES = {
    "core": "aggregate_replace base_value builtin extern must_use_result tuple_type _aggregate _experimental_descriptor_load "
    "_experimental_descriptor_store _experimental_make_tensor_descriptor",
    "math": "abs ceil clamp cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi",
    "target_info": "cuda_capability_geq current_target is_cuda is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250",
    "extra.cuda": "convert_custom_float8_sm70 convert_custom_float8_sm80 gdc_launch_dependents gdc_wait globaltimer libdevice "
    "num_threads num_warps smid experimental_device_tensormap_create1d experimental_device_tensormap_create2d "
    "experimental_tensormap_fenceproxy_acquire",
}

TENSOR_METHODS = """
T to broadcast_to trans permute split view reshape expand_dims cast store advance atomic_cas atomic_xchg atomic_add atomic_max atomic_min
atomic_and atomic_or atomic_xor exp log cos sin sqrt rsqrt abs reduce associative_scan gather histogram cdiv sigmoid softmax ravel max
argmax min argmin sum xor_sum reduce_or cumsum cumprod sort flip logical_and logical_or
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_the_language_has(name: str) -> None:
    assert hasattr(tl, name)
    assert name in tl.__all__


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in OF_MODULES.items() for n in names.split()])
def test_a_module_has(module: str, name: str) -> None:
    found = tl
    for part in module.split("."):
        found = getattr(found, part)
    assert hasattr(found, name)


def test_tensors_have_their_methods() -> None:
    from trivet import jit

    lines = "".join(f"    tl.static_assert(hasattr(x, {name!r}))\n" for name in TENSOR_METHODS)
    text = f"@jit\ndef kernel():\n    x = tl.arange(0, 4)\n{lines}"
    namespace = {"jit": jit, "tl": tl}
    exec(text, namespace)
    namespace["kernel"].warmup(grid=(1,))  # type: ignore[attr-defined]
