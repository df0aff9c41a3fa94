"""autotune, heuristics and Config, on the interpreter."""

import json

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet.runtime.errors import AutotunerError, OutOfResources


@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def configs():
    return [triton.Config({"BLOCK": 16}, num_warps=1), triton.Config({"BLOCK": 64}, num_warps=2)]


def tuned(**options):
    """An autotuner whose measurements are given: BLOCK = 64 is always the fastest."""
    measured = []

    def bench(call, quantiles):
        call()
        measured.append(tuner.nargs)
        return [1.0 / len(measured)] * len(quantiles)

    tuner = triton.autotune(configs=configs(), key=["n"], do_bench=bench, **options)(scale)
    return tuner, measured


def test_measures_once_for_each_key():
    tuner, measured = tuned(restore_value=["x_ptr"])
    x = np.ones(50, np.float32)
    tuner[grid](x, 50, 2.0)
    assert tuner.best_config.kwargs == {"BLOCK": 64}
    assert len(measured) == 2
    tuner[grid](x, 50, 3.0)
    assert len(measured) == 2
    tuner[grid](x, 49, 2.0)
    assert len(measured) == 4
    assert x.tolist() == [12.0] * 49 + [6.0]


def test_another_element_type_is_another_key():
    tuner, measured = tuned()
    tuner[grid](np.ones(50, np.float32), 50, 2.0)
    tuner[grid](np.ones(50, np.float64), 50, 2.0)
    assert len(measured) == 4


def test_a_single_configuration_is_not_measured():
    def refuse(call, quantiles):
        raise AssertionError("measured")

    tuner = triton.autotune(configs=configs()[:1], key=["n"], do_bench=refuse)(scale)
    x = np.ones(5, np.float32)
    tuner[grid](x, 5, 2.0)
    assert x.tolist() == [2.0] * 5


def test_restore_and_reset():
    restored = triton.autotune(configs=configs(), key=["n"], restore_value=["x_ptr"], warmup=0, rep=0)(scale)
    x = np.arange(50, dtype=np.float32)
    restored[grid](x, 50, 2.0)
    assert x.tolist() == [2.0 * v for v in range(50)]

    @triton.jit
    def accumulate(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(sum_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), axis=0))

    reset = triton.autotune(configs=configs(), key=["n"], reset_to_zero=["sum_ptr"], warmup=0, rep=0)(accumulate)
    total = np.zeros(1, np.float32)
    reset[grid](x, total, 50)
    assert total[0] == x.sum()


def test_hooks():
    seen = []
    tuner, _ = tuned(pre_hook=lambda args, **_: seen.append(("pre", args["BLOCK"])),
                     post_hook=lambda args, exception: seen.append(("post", args["BLOCK"], exception)))  # fmt: skip
    tuner[grid](np.ones(5, np.float32), 5, 2.0)
    assert seen[:4] == [("pre", 16), ("post", 16, None), ("pre", 64), ("post", 64, None)]

    chosen = []
    config = triton.Config({"BLOCK": 16}, pre_hook=lambda args: chosen.append(args["n"]))
    triton.autotune(configs=[config], key=[])(scale)[grid](np.ones(5, np.float32), 5, 2.0)
    assert chosen == [5]


def test_a_failing_configuration_passes_its_error_on():
    errors = []
    bad = triton.Config({"BLOCK": -1})
    tuner = triton.autotune(configs=[bad, *configs()], key=["n"], do_bench=lambda call, quantiles: call() or [1.0] * 3,
                            post_hook=lambda args, exception: errors.append(exception))(scale)  # fmt: skip
    with pytest.raises(triton.CompilationError):
        tuner[grid](np.ones(5, np.float32), 5, 2.0)
    assert isinstance(errors[0], triton.CompilationError)


def test_out_of_resources_is_not_chosen():
    calls = []

    def bench(call, quantiles):
        calls.append(1)
        if len(calls) == 2:
            raise OutOfResources(2, 1, "shared memory")
        return [5.0] * 3

    tuner = triton.autotune(configs=configs(), key=["n"], do_bench=bench)(scale)
    tuner[grid](np.ones(5, np.float32), 5, 2.0)
    assert tuner.best_config.kwargs == {"BLOCK": 16}


def test_pruning():
    tuner, measured = tuned(prune_configs_by={"early_config_prune": lambda configs, nargs, **_: configs[:1]})
    tuner[grid](np.ones(5, np.float32), 5, 2.0)
    assert tuner.best_config.kwargs == {"BLOCK": 16} and len(measured) == 1

    model, measured = tuned(prune_configs_by={"perf_model": lambda **args: -args["BLOCK"], "top_k": 1})
    model[grid](np.ones(5, np.float32), 5, 2.0)
    assert model.best_config.kwargs == {"BLOCK": 64} and len(measured) == 1

    nothing, _ = tuned(prune_configs_by={"early_config_prune": lambda configs, nargs, **_: []})
    with pytest.raises(AutotunerError, match="Autotuner error: No valid"):
        nothing[grid](np.ones(5, np.float32), 5, 2.0)


def test_conflicting_parameters():
    tuner, _ = tuned()
    with pytest.raises(ValueError, match="BLOCK"):
        tuner[grid](np.ones(5, np.float32), 5, 2.0, BLOCK=16)


def test_results_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIVET_CACHE_DIR", str(tmp_path))
    first, measured = tuned(cache_results=True)
    first[grid](np.ones(5, np.float32), 5, 2.0)
    assert len(measured) == 2
    second, measured = tuned(cache_results=True)
    second[grid](np.ones(5, np.float32), 5, 2.0)
    assert len(measured) == 0 and second.best_config.kwargs == {"BLOCK": 64}
    (file,) = (tmp_path / "autotune").iterdir()
    assert "BLOCK: 64" in json.loads(file.read_text())["best"]
    file.write_text("{ damaged")
    third, measured = tuned(cache_results=True)
    third[grid](np.ones(5, np.float32), 5, 2.0)
    assert len(measured) == 2


def test_warmup_compiles_every_configuration():
    tuner, measured = tuned()
    kernels = tuner.warmup(np.ones(5, np.float32), 5, 2.0, grid=(1,))
    assert len(kernels) == 2 and not measured


def test_heuristics_see_earlier_ones_and_run_at_each_launch():
    @triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0, "VALUE": lambda args: 10 if args["EVEN"] else 20})
    @triton.jit
    def kernel(out_ptr, n, EVEN: tl.constexpr, VALUE: tl.constexpr):
        tl.store(out_ptr, VALUE)

    out = np.zeros(1, np.int32)
    found = []
    for n in (4, 5, 6):
        kernel[(1,)](out, n)
        found.append(int(out[0]))
    assert found == [10, 20, 10]


def test_config():
    a = triton.Config({"BLOCK": 16}, num_warps=8, num_stages=2, maxnreg=64)
    assert a.all_kwargs() == {"BLOCK": 16, "num_warps": 8, "num_ctas": 1, "num_stages": 2, "maxnreg": 64}
    assert a == triton.Config({"BLOCK": 16}, num_warps=8, num_stages=2, maxnreg=64)
    assert a != triton.Config({"BLOCK": 16})
    assert len({a, triton.Config({"BLOCK": 16}, num_warps=8, num_stages=2, maxnreg=64)}) == 1
    assert "BLOCK: 16" in str(a) and "num_warps: 8" in str(a)
