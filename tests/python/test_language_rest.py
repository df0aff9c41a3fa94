"""The rarer parts of the language: while conditions, expected zeros, pointers to constants, descriptors in memory, what belongs to
hardware, constants of helpers with several returns, names declared as compile-time ones."""

from __future__ import annotations

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet import signatures
from trivet.arguments import Typed
from trivet.errors import CompileError, KernelAssertionError
from trivet.runtime import driver


@triton.jit
def _condition_kernel(out, n):
    i = 0
    while tl.condition(i < n, disable_licm=True):
        i += 3
    tl.store(out, i)


def test_condition_of_a_while_loop() -> None:
    out = np.zeros(1, np.int32)
    _condition_kernel[(1,)](out, 7)
    assert out[0] == 9


@triton.jit
def _expect_zero_kernel(x, out, LIMIT: tl.constexpr):
    at = tl.arange(0, 8)
    tl.store(out + at, tl.expect_zero(tl.load(x + at), at < LIMIT))


def test_expect_zero_gives_its_value_and_checks_it() -> None:
    x, out = np.array([0, 0, 0, 3, 4, 5, 6, 7], np.float32), np.zeros(8, np.float32)
    _expect_zero_kernel[(1,)](x, out, 3)
    assert out.tolist() == x.tolist()
    with pytest.raises(KernelAssertionError, match="expect_zero"):
        _expect_zero_kernel[(1,)](x, out, 4)


@triton.jit
def _pick(a, b, first: tl.constexpr):
    if first:
        return a
    return b


@triton.jit
def _const_kernel(x: tl.const, out, n, WHERE: tl.constexpr):
    at = tl.arange(0, 4)
    values = tl.load(x + at)
    tl.store(out + at, values)
    if WHERE == "offset":
        tl.store(x + at, values)
    if WHERE == "loop":
        pointer = x
        for _ in range(n):
            tl.atomic_add(pointer, 1.0)
            pointer += 1
    if WHERE == "while":
        pointer = x
        i = 0
        while i < n:
            pointer += 1
            i += 1
        tl.atomic_cas(pointer.to(tl.pointer_type(tl.int32), bitcast=True), 1, 2)
    if WHERE == "if":
        pointer = out
        if n > 3:
            pointer = x
        tl.store(pointer, 1.0)
    if WHERE == "ternary":
        tl.store(x if n > 3 else out, 1.0)
    if WHERE == "helper":
        tl.store(_pick(x, out, True), 1.0)
    if WHERE == "block":
        tl.store(tl.make_block_ptr(x, (4,), (1,), (0,), (4,), (0,)), values)
    if WHERE == "descriptor":
        tl.make_tensor_descriptor(x, (4,), (1,), (4,)).store([0], values)
    if WHERE == "other":
        tl.store(_pick(x, out, False), 7.0)


@pytest.mark.parametrize("where", ["offset", "loop", "while", "if", "ternary", "helper", "block", "descriptor"])
def test_nothing_is_written_through_a_const_pointer(where: str) -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    with pytest.raises(CompileError, match="x is a tl.const pointer"):
        _const_kernel[(1,)](x, out, 5, where)


def test_a_const_pointer_is_read_and_others_are_written() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    _const_kernel[(1,)](x, out, 5, "other")
    assert out.tolist() == [7, 1, 2, 3]
    x.flags.writeable = False
    _const_kernel[(1,)](x, out, 5, "nowhere")
    assert out.tolist() == [0, 1, 2, 3]


@triton.jit
def _plain_kernel(x):
    tl.store(x, 1.0)


def test_a_signature_can_say_that_a_pointer_is_const() -> None:
    assert signatures.parse_type("*kfp32").is_const() and not signatures.parse_type("*fp32").is_const()
    _plain_kernel.warmup(Typed(signatures.parse_type("*fp32")))
    with pytest.raises(CompileError, match="tl.const"):
        _plain_kernel.warmup(Typed(signatures.parse_type("*kfp32")))


@triton.jit
def _hardware_kernel(out):
    tl.extra.cuda.gdc_wait()
    THREADS: tl.constexpr = tl.extra.cuda.num_threads()
    tl.static_assert(THREADS == 32 * tl.extra.cuda.num_warps())
    tl.store(out, tl.extra.cuda.num_warps())
    tl.store(out + 1, tl.extra.cuda.smid())
    x = tl.full((4,), 1.5, tl.float16)
    y = tl.extra.cuda.convert_custom_float8_sm80(x, tl.float8e4b15)
    tl.store(out + 2, tl.sum(tl.extra.cuda.convert_custom_float8_sm70(y, tl.float16)).to(tl.int32))
    tl.extra.cuda.gdc_launch_dependents()


def test_what_belongs_to_hardware() -> None:
    out = np.full(3, -1, np.int32)
    _hardware_kernel[(1,)](out)
    assert out.tolist() == [4, 0, 6]
    _hardware_kernel[(1,)](out, num_warps=8)
    assert out[0] == 8


@triton.jit
def _target_kernel(out, BACKEND: tl.constexpr):
    tl.static_assert(tl.target_info.current_target().backend == BACKEND)
    if tl.target_info.is_cuda() or tl.target_info.is_hip():
        tl.store(out, 1)
    else:
        tl.store(out, 2)


def test_target_info(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1, np.int32)
    monkeypatch.delenv("TRIVET_TARGET", raising=False)
    _target_kernel[(1,)](out, driver.active.get_current_target().backend)
    assert out[0] == (1 if tl.target_info.is_cuda() else 2)
    monkeypatch.setenv("TRIVET_TARGET", "cuda:90")
    assert (
        tl.target_info.is_cuda()
        and tl.target_info.cuda_capability_geq(8, 9)
        and not tl.target_info.cuda_capability_geq(10)
    )
    assert not tl.target_info.is_hip_cdna3()


@triton.jit
def _old_descriptor_kernel(x, out, workspace, M, N):
    desc = workspace + tl.program_id(0) * 128
    tl.extra.cuda.experimental_device_tensormap_create2d(
        desc_ptr=desc, global_address=x, load_size=[4, 8], global_size=[M, N], element_ty=x.dtype.element_ty
    )
    tl.extra.cuda.experimental_tensormap_fenceproxy_acquire(desc)
    tile = tl._experimental_descriptor_load(desc, [2, 4], [4, 8], tl.float32)
    tl.extra.cuda.experimental_device_tensormap_create2d(
        desc_ptr=desc, global_address=out, load_size=[4, 8], global_size=[M, N], element_ty=out.dtype.element_ty
    )
    tl._experimental_descriptor_store(desc, tile * 2, [0, 8])


def test_descriptors_that_lie_in_memory() -> None:
    x = np.arange(5 * 16, dtype=np.float32).reshape(5, 16)
    out, workspace = np.zeros_like(x), np.zeros(128, np.int8)
    _old_descriptor_kernel[(1,)](x, out, workspace, 5, 16)
    expected = np.zeros_like(x)
    expected[0:3, 8:16] = x[2:5, 4:12] * 2  # rows beyond the matrix are zero
    assert (out == expected).all()


@triton.jit
def _older_load_kernel(desc, out):
    tl.store(
        out + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8),
        tl._experimental_descriptor_load(desc, [0, 0], [4, 8], tl.float32),
    )


def test_the_older_load_takes_a_descriptor() -> None:
    x, out = np.arange(32, dtype=np.float32).reshape(4, 8), np.zeros((4, 8), np.float32)
    _older_load_kernel[(1,)](triton.TensorDescriptor.from_tensor(x, [4, 8]), out)
    assert (out == x).all()


@triton.jit
def _sign(x):
    if x < 0:
        return -1, x
    else:
        return 1, x


@triton.constexpr_function
def _ten():
    return 10


@triton.jit
def _constants_kernel(out, n):
    pair: tl.constexpr = _sign(-5)
    tl.static_assert(pair[0] == -1 and pair[1] == -5)
    run_time = _sign(n)
    tl.static_assert(run_time.type == tl.tuple_type([tl.int32, tl.int32]))
    a: tl.constexpr
    b, a = 3, 4
    tl.static_assert(b.type == tl.int32 and a.type == tl.constexpr_type(4))
    c: tl.constexpr
    if (c := _ten()) == 10:
        tl.static_assert(isinstance(c.type, tl.constexpr_type))
    tl.store(out, run_time[0])
    tl.store(out + tl.arange(0, a), b)


def test_compile_time_values_stay_so_where_they_are_declared() -> None:
    out = np.zeros(4, np.int32)
    _constants_kernel[(1,)](out, 9)
    assert out.tolist() == [3, 3, 3, 3]


@tl.core.builtin
def _pair(*values, _semantic=None):
    return tl.to_tensor(values[1], _semantic=_semantic), list(values)


@triton.jit
def _builtin_kernel(out):
    second, both = _pair(4, 8)
    tl.store(out, second + both[0])


def test_functions_marked_as_part_of_the_language() -> None:
    out = np.zeros(1, np.int32)
    _builtin_kernel[(1,)](out)
    assert out[0] == 12
