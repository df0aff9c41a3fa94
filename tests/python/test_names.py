"""Names that programs import from Triton and its submodules are there, and mean something."""

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet.runtime.jit import get_full_name, get_jit_fn_file_line, mangle_type

NAMES = {
    "": "AsyncCompileMode CompilationError Config FutureKernel InterpreterError JITFunction KernelInterface MockTensor OutOfResources "
        "TensorWrapper TritonError autotune cdiv compile compiler constexpr_function errors heuristics jit knobs language must_use_result "
        "next_power_of_2 reinterpret runtime set_allocator testing __version__",
    "_utils": "TRITON_MAX_TENSOR_NUMEL canonicalize_dtype canonicalize_ptr_dtype get_primitive_bitwidth is_namedtuple is_power_of_two "
              "validate_block_shape",
    "backends": "backends",
    "backends.compiler": "GPUTarget",
    "backends.driver": "Benchmarker DriverBase",
    "compiler": "ASTSource CompilationError CompiledKernel compile",
    "compiler.compiler": "ASTSource CompiledKernel GPUTarget OutOfResources compile get_cache_manager get_dump_manager "
                         "get_override_manager knobs max_shared_mem triton_key",
    "compiler.errors": "CompilationError CompileTimeAssertionFailure TritonError UnsupportedLanguageConstruct",
    "errors": "TritonError",
    "knobs": "autotuning cache compilation language runtime HookChain",
    "language": "core math random standard extra dtype tensor constexpr pointer_type block_type tensor_descriptor target_info",
    "language.core": "constexpr dtype tensor pointer_type block_type void",
    "language.extra": "libdevice cuda",
    "language.extra.cuda": "libdevice globaltimer smid",
    "runtime": "Autotuner Config Heuristics InterpreterError JITFunction KernelInterface MockTensor OutOfResources TensorWrapper autotune "
               "driver heuristics reinterpret set_allocator JITCallable AsyncCompileMode cache",
    "runtime._allocation": "Allocator Buffer NullAllocator set_allocator set_profile_allocator",
    "runtime._async_compile": "AsyncCompileMode FutureKernel active_mode",
    "runtime.autotuner": "Autotuner Config Heuristics OutOfResources autotune heuristics",
    "runtime.cache": "CacheManager FileCacheManager default_cache_dir default_dump_dir default_override_dir get_cache_manager "
                     "get_dump_manager get_override_manager knobs triton_key",
    "runtime.driver": "active default driver set_active DriverBase",
    "runtime.errors": "AutotunerError InterpreterError OutOfResources PTXASError TritonError",
    "runtime.interpreter": "InterpretedFunction InterpreterError",
    "runtime.jit": "CompiledKernel ConstexprFunction JITCallable JITFunction KernelInterface KernelParam MockTensor TensorWrapper "
                   "constexpr_function get_full_name get_jit_fn_file_line jit knobs mangle_type reinterpret type_canonicalisation_dict",
    "testing": "Benchmark Mark assert_close do_bench do_bench_cudagraph perf_report",
    "tools.mxfp": "MXFP4Tensor MXScaleTensor",
    "tools.tensor_descriptor": "TensorDescriptor",
}  # fmt: skip


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    found = importlib.import_module("trivet" + (f".{module}" if module else ""))
    missing = [name for name in NAMES[module].split() if not hasattr(found, name)]
    assert not missing
    absent = [name for name in getattr(found, "__all__", ()) if not hasattr(found, name)]
    assert not absent


@triton.jit
def _store(x, value, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), value)


@triton.jit
def _broken(x):
    tl.store(x, nothing)  # noqa: F821


def test_what_kernels_are():
    assert isinstance(_store, triton.runtime.JITCallable) and isinstance(_store, triton.KernelInterface)
    assert isinstance(triton.constexpr_function(len), triton.runtime.JITCallable)
    assert get_full_name(_store) == f"{__name__}._store"
    file, line = get_jit_fn_file_line(_store)
    with open(file) as source:
        assert source.readlines()[line - 1].startswith("def _store(")


@pytest.mark.parametrize(
    "value, spelling",
    [(np.zeros(1, np.float32), "*fp32"), (np.zeros(1, np.bool_), "*u1"), (7, "i32"), (1 << 40, "i64"), (2.5, "fp32"), (True, "u1"),
     (None, "constexpr"), ("text", "constexpr")],
    ids=repr,
)  # fmt: skip
def test_mangled_types(value, spelling):
    assert mangle_type(value) == spelling
    assert mangle_type(1, specialize=True) == "constexpr"


def test_compiling_many_at_once():
    thread_names = []
    with ThreadPoolExecutor(2, thread_name_prefix="compiles") as executor:
        previous, triton.knobs.runtime.jit_cache_hook = triton.knobs.runtime.jit_cache_hook, None
        mode = triton.AsyncCompileMode(executor)
        compile_one = _store._compile
        _store._compile = lambda *args: thread_names.append(threading.current_thread().name) or compile_one(*args)
        try:
            with mode:
                pending = [_store.warmup(triton.MockTensor(tl.float32), 1.0, n, grid=(1,)) for n in (4, 8, 16, 4)]
                assert all(isinstance(kernel, triton.FutureKernel) for kernel in pending)
                assert pending[0] is pending[3]
                with pytest.raises(RuntimeError, match="another AsyncCompileMode is active"):
                    triton.AsyncCompileMode(executor).__enter__()
        finally:
            del _store._compile
            triton.knobs.runtime.jit_cache_hook = previous
    assert len(thread_names) == 3 and all(name.startswith("compiles") for name in thread_names)
    x = np.zeros(8, np.float32)
    assert _store[(1,)](x, 2.0, 8) is pending[1].result()
    assert pending[1].name == "_store" and x.tolist() == [2.0] * 8


def test_errors_of_compiling_many_at_once():
    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(triton.CompilationError, match="nothing"):
            with triton.AsyncCompileMode(executor):
                _broken.warmup(triton.MockTensor(tl.float32), grid=(1,))
        with triton.AsyncCompileMode(executor, ignore_errors=True):
            pending = _broken.warmup(triton.MockTensor(tl.float32), grid=(1,))
        with pytest.raises(triton.CompilationError, match="nothing"):
            pending.result()
        with pytest.raises(ZeroDivisionError):  # an error of the block itself is not hidden
            with triton.AsyncCompileMode(executor):
                _broken.warmup(triton.MockTensor(tl.float32), grid=(1,))
                1 / 0  # noqa: B018


def test_files_of_a_key(tmp_path):
    from trivet.runtime.cache import get_cache_manager, get_dump_manager

    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path)
        files = get_cache_manager("key")
        assert files.get_file("a.txt") is None and not files.has_file("a.txt") and files.get_group("all") is None
        path = files.put("text", "a.txt", binary=False)
        assert files.get_file("a.txt") == path and open(path).read() == "text"
        other = files.put(b"\x00\xff", "b.bin")
        files.put_group("all", {"a.txt": path, "b.bin": other, "lost": str(tmp_path / "lost")})
        assert get_cache_manager("key").get_group("all") == {"a.txt": path, "b.bin": other}
        assert get_dump_manager("key").get_file("a.txt") is None
        assert sorted(p.name for p in (tmp_path / "key").iterdir()) == ["__grp__all", "a.txt", "b.bin"]


def test_small_functions():
    from trivet import _utils

    assert [_utils.is_power_of_two(n) for n in (1, 2, 3, 64, 65)] == [True, True, False, True, False]
    assert (_utils.canonicalize_dtype("float32"), _utils.canonicalize_ptr_dtype("int8", True)) == ("fp32", "*ki8")
    assert _utils.get_primitive_bitwidth("bf16") == 16
    assert _utils.validate_block_shape([4, tl.constexpr(8)]) == 32
    with pytest.raises(ValueError, match="exceeds triton maximum tensor numel"):
        _utils.validate_block_shape([1 << 21])
    with pytest.raises(TypeError, match="Shape element 0"):
        _utils.validate_block_shape(["4"])
