"""trivet.testing: timing, comparison, reports."""

import time

import numpy as np
import pytest

import trivet as triton


def test_do_bench_counts_and_orders_quantiles():
    runs = []
    low, high, mid = triton.testing.do_bench(lambda: runs.append(1), warmup=1, rep=2, quantiles=[0.0, 1.0, 0.5])
    assert 0 < low <= mid <= high and len(runs) >= 2
    assert isinstance(triton.testing.do_bench(lambda: None, warmup=0, rep=0, quantiles=[0.5]), float)


@pytest.mark.parametrize("mode", ["min", "max", "mean", "median"])
def test_do_bench_modes(mode):
    assert triton.testing.do_bench(lambda: None, warmup=0, rep=1, return_mode=mode) > 0
    assert isinstance(triton.testing.do_bench(lambda: None, warmup=0, rep=1, return_mode="all"), list)
    with pytest.raises(ValueError, match="return_mode"):
        triton.testing.do_bench(lambda: None, return_mode="best")


def test_do_bench_is_in_milliseconds_and_clears_gradients():
    class Tensor:
        grad = 1

    tensor = Tensor()
    took = triton.testing.do_bench(lambda: time.sleep(0.01), warmup=0, rep=30, grad_to_none=[tensor])
    assert took >= 10 and tensor.grad is None


def test_assert_close():
    triton.testing.assert_close(np.ones(3), np.ones(3) + 1e-3)
    with pytest.raises(AssertionError):
        triton.testing.assert_close(np.ones(3), np.ones(3) + 1e-1)
    triton.testing.assert_close(np.ones(3), np.ones(3) + 1e-1, rtol=0.2)


def benchmark(**changes):
    options = {"x_names": ["n"], "x_vals": [1, 2, 4], "line_arg": "who", "line_vals": ["a", "b"], "line_names": ["A", "B"],
               "plot_name": "speed", "args": {"k": 10}}  # fmt: skip
    return triton.testing.Benchmark(**{**options, **changes})


def test_perf_report_prints_and_saves(tmp_path, capsys):
    @triton.testing.perf_report(benchmark())
    def measure(n, who, k):
        return n * k + (who == "b"), n * k - 1, n * k + 1

    measure.run(print_data=True, save_path=str(tmp_path))
    shown = capsys.readouterr().out
    assert "speed:" in shown and "41" in shown
    assert (tmp_path / "speed.csv").read_text().split() == ["n,A,B", "1,10,11", "2,20,21", "4,40,41"]
    assert measure(3, "a", 1) == (3, 2, 4)


def test_perf_report_with_several_names():
    @triton.testing.perf_report([benchmark(x_names=["m", "n"], x_vals=[(1, 2), 3])])
    def measure(m, n, who, k):
        return m * n

    pandas = pytest.importorskip("pandas")
    (frame,) = measure.run(return_df=True)
    assert isinstance(frame, pandas.DataFrame) and frame["A"].tolist() == [2, 9]
