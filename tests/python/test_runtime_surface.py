"""What programs use of triton.runtime, triton.compiler and JITFunction."""

import platform

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet.runtime import driver
from trivet.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def add_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 16):
    """Adds one."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def test_jit_function_members():
    assert add_one.__name__ == "add_one" and add_one.__doc__ == "Adds one."
    assert add_one.arg_names == ["x_ptr", "out_ptr", "n", "BLOCK"]
    assert [p.is_constexpr for p in add_one.params] == [False, False, False, True]
    assert add_one.src.startswith("def add_one(")
    assert callable(add_one.fn) and add_one.cache_key
    with pytest.raises(RuntimeError, match="kernel|launch"):
        add_one(1)


def test_cache_by_signature_not_by_value():
    add_one.cache.clear()
    x, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    first = add_one[(1,)](x, out, 8)
    assert add_one[(1,)](x, out, 1) is first  # a value of 1 is as good as another
    assert add_one[(1,)](x[::2], out, 4) is first
    assert add_one.warmup(x, out, 2**40, grid=(1,)) is not first  # i64
    assert add_one[(1,)](x, out, 8, BLOCK=32) is not first


def test_compiled_kernel():
    kernel = add_one.warmup(np.zeros(8, np.float32), np.zeros(8, np.float32), 8, grid=(1,), num_warps=2)
    assert kernel.metadata["num_warps"] == "2" or kernel.metadata.num_warps == 2
    assert kernel.n_regs == 1 and kernel.n_spills == 0
    assert "kernel @add_one" in kernel.asm["tvt"] and kernel.asm["tvbc"][:4] != b""


def test_pre_run_hook():
    seen = []

    @triton.jit
    def kernel(x_ptr):
        tl.store(x_ptr, 1)

    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(args))
    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    assert len(seen) == 1 and seen[0][0] is x


def test_compile_a_source():
    source = triton.compiler.ASTSource(
        add_one, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64}
    )
    assert "tile<64xf32>" in triton.compile(source).asm["tvt"]


def test_compile_reads_a_bytecode_file(tmp_path):
    kernel = add_one.warmup(np.zeros(8, np.float32), np.zeros(8, np.float32), 8, grid=(1,))
    path = tmp_path / "add.tvbc"
    path.write_bytes(kernel.asm["tvbc"])
    assert triton.compile(str(path)).asm["tvt"] == kernel.asm["tvt"]


def test_driver_is_truthful():
    target = driver.active.get_current_target()
    assert target.backend == "cpu" and target.arch == platform.machine()
    assert driver.active.utils.get_device_properties(0)["multiprocessor_count"] >= 1
    assert driver.active.get_current_device() == 0
    torch = pytest.importorskip("torch")
    assert driver.active.get_active_torch_device() == torch.device("cpu")


def test_reinterpret():
    torch = pytest.importorskip("torch")

    @triton.jit
    def bits(x_ptr, out_ptr, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out_ptr + i, tl.load(x_ptr + i).to(tl.float32))

    x = torch.tensor([0x38, 0x40, 0xB8, 0x7E], dtype=torch.uint8)
    out = torch.zeros(4)
    bits[(1,)](triton.reinterpret(x, tl.float8e4nv), out, N=4)
    assert out.tolist() == [1.0, 2.0, -1.0, 448.0]
    with pytest.raises(TypeError):
        triton.reinterpret(3, tl.float32)


@triton.jit
def copy_block(source, target, row, column, M: tl.constexpr, N: tl.constexpr):
    tl.static_assert(source.block_shape[0] == M)
    block = source.load([row, column])
    target.store([row, column], block * 2 + source.shape[0])


def test_host_descriptor():
    x = np.arange(6 * 8, dtype=np.float32).reshape(6, 8)
    out = np.full((6, 8), -1, np.float32)
    block = [4, 4]
    copy_block[(1,)](TensorDescriptor.from_tensor(x, block), TensorDescriptor.from_tensor(out, block), 4, 4, M=4, N=4)
    want = np.full((6, 8), -1, np.float32)
    want[4:, 4:] = x[4:, 4:] * 2 + 6
    assert np.array_equal(out, want)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"strides": [8, 2]}, "contiguous"),
        ({"strides": [3, 1]}, "16 bytes"),
        ({"block_shape": [4]}, "entries"),
        ({"padding": "one"}, "padding"),
    ],
)
def test_host_descriptor_refuses(change, words):
    arguments = {
        "base": np.zeros((6, 8), np.float32),
        "shape": [6, 8],
        "strides": [8, 1],
        "block_shape": [4, 4],
        **change,
    }
    with pytest.raises(ValueError, match=words):
        TensorDescriptor(**arguments)


def test_operations_outside_a_kernel():
    with pytest.raises(RuntimeError, match="only work inside"):
        tl.load(1)


def test_signatures_of_operations_match_the_frontend():
    import inspect

    assert list(inspect.signature(tl.load).parameters)[:3] == ["pointer", "mask", "other"]
    assert tl.load.__doc__ and tl.dot.__doc__


def test_cdiv_and_next_power_of_2_in_both_worlds():
    @triton.jit
    def kernel(out_ptr, n, B: tl.constexpr):
        tl.store(out_ptr, triton.cdiv(n, B))
        tl.store(out_ptr + 1, triton.next_power_of_2(B))
        tl.store(out_ptr + 2, triton.cdiv(B, 4))

    out = np.zeros(3, np.int32)
    kernel[(1,)](out, 10, B=5)
    assert out.tolist() == [triton.cdiv(10, 5), triton.next_power_of_2(5), 2] == [2, 8, 2]
