"""Timing, comparison and reports: ``triton.testing`` for a machine with or without a GPU."""

from __future__ import annotations

import functools
import math
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import knobs

_RETURN_MODES = ("min", "max", "mean", "median", "all")


def _summary(times: Any, quantiles: Any, return_mode: Any) -> Any:
    if quantiles is not None:
        values = [_quantile(times, q) for q in quantiles]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return times
    means: dict[str, Any] = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
    return means[return_mode](times)


def _quantile(times: Any, q: Any) -> Any:
    """Linear interpolation between the two nearest ranks."""
    if not 0 <= q <= 1:
        raise ValueError(f"quantiles are between 0 and 1, found {q}")
    ordered = sorted(times)
    position = q * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _wait_for_gpu() -> None:
    """A launch on a GPU is done when the GPU is."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def do_bench(fn: Any, warmup: int = 25, rep: int = 100, grad_to_none: Any = None, quantiles: Any = None, return_mode: str = "mean", device_type: Any = None,
             measure_time_with_hooks: bool = False) -> Any:  # fmt: skip
    """Times ``fn()``.

    Args:
        fn: the function to time; it runs at least twice.
        warmup, rep: how long to run before and while measuring, in milliseconds.
        grad_to_none: tensors whose gradient is dropped before each run.
        quantiles: which quantiles of the times to give, in this order.
        measure_time_with_hooks: of Triton's fork for processors, which can leave out what surrounds the kernel; here all counts.
        return_mode: without quantiles: ``"min"``, ``"max"``, ``"mean"``, ``"median"`` or ``"all"`` (a list).

    Returns:
        Milliseconds: one number, or a list for several quantiles or ``"all"``.
    """
    if return_mode not in _RETURN_MODES:
        raise ValueError(f"return_mode must be one of {', '.join(_RETURN_MODES)}, found {return_mode!r}")

    def once() -> Any:
        for tensor in grad_to_none or ():
            tensor.grad = None
        _wait_for_gpu()
        began = time.perf_counter()
        fn()
        _wait_for_gpu()
        return (time.perf_counter() - began) * 1e3

    spent = once()  # compiles
    while spent < warmup:
        spent += max(once(), 1e-6)
    times: list[float] = []
    spent = 0.0
    while not times or spent < rep:
        times.append(max(once(), 1e-6))
        spent += times[-1]
    return _summary(times, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Any, rep: int = 20, grad_to_none: Any = None, quantiles: Any = None, return_mode: str = "mean"
) -> Any:
    """As ``do_bench``: there are no CUDA graphs on the interpreter."""
    return do_bench(fn, warmup=1, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


def assert_close(x: Any, y: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Raises ``AssertionError`` unless ``x`` and ``y`` agree: exact for integers and booleans, 1e-2 by default for floats."""
    import numpy

    def plain(value: Any) -> Any:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":
                value = value.float()
            value = value.numpy()
        return numpy.asarray(value)

    x, y = plain(x), plain(y)
    atol = atol(x.dtype) if callable(atol) else 1e-2 if atol is None else atol
    rtol = rtol(x.dtype) if callable(rtol) else 0.0 if rtol is None else rtol
    if x.size > 1 or y.size > 1:
        numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
        return
    if not numpy.allclose(x, y, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


class Benchmark:
    """What ``perf_report`` varies and shows.

    Args:
        x_names, x_vals: arguments along the x axis, and their values (tuples for several names).
        line_arg, line_vals, line_names: the argument that makes the lines, its values, and their labels.
        plot_name: title, and name of the files written. args: the other arguments.
    """

    def __init__(self, x_names: Any, x_vals: Any, line_arg: Any, line_vals: Any, line_names: Any, plot_name: Any, args: Any, xlabel: str = "", ylabel: str = "", x_log: bool = False,
                 y_log: bool = False, styles: Any = None) -> None:  # fmt: skip
        self.x_names, self.x_vals = x_names, x_vals
        self.x_log, self.y_log = x_log, y_log
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.styles = styles
        self.xlabel, self.ylabel = xlabel, ylabel
        self.plot_name, self.args = plot_name, args


class Mark:
    """A function with the benchmarks to run it for; made by ``perf_report``. TRIVET_BENCH_POINTS cuts them short."""

    def __init__(self, fn: Any, benchmarks: Any) -> None:
        self.fn, self.benchmarks = fn, benchmarks
        functools.update_wrapper(self, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def _rows(self, bench: Any, **kwargs: Any) -> Any:
        rows = []
        for x in list(bench.x_vals)[: knobs.bench_points()]:
            values = x if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
            if len(values) != len(bench.x_names):
                raise ValueError(f"expected {len(bench.x_names)} values, found {x}")
            point = dict(zip(bench.x_names, values, strict=False))
            row = list(values)
            for line in bench.line_vals:
                result = self.fn(**point, **{bench.line_arg: line}, **bench.args, **kwargs)
                row.append(result if isinstance(result, (tuple, list)) else (result, None, None))
            rows.append(row)
        return rows

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Runs all benchmarks; prints tables, shows or saves plots and CSV files as asked."""
        many = isinstance(self.benchmarks, (list, tuple))
        frames = []
        for bench in self.benchmarks if many else [self.benchmarks]:
            rows = self._rows(bench, **kwargs)
            header = [*bench.x_names, *bench.line_names]
            table = [[*row[: len(bench.x_names)], *(cell[0] for cell in row[len(bench.x_names) :])] for row in rows]
            if print_data:
                print(f"{bench.plot_name}:")
                _print_table(header, table)
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                _save_csv(os.path.join(save_path, f"{bench.plot_name}.csv"), header, table)
            if (show_plots or save_path) and bench.plot_name:
                _plot(bench, rows, show_plots, save_path)
            if return_df:
                import pandas

                frames.append(pandas.DataFrame(table, columns=header))
        if return_df:
            return frames if many else frames[0]
        return None


def _print_table(header: Any, table: Any) -> None:
    cells = [[f"{v:.6f}" if isinstance(v, float) else str(v) for v in row] for row in table]
    widths = [max(len(h), *(len(r[i]) for r in cells)) if cells else len(h) for i, h in enumerate(header)]
    print("   " + "  ".join(h.rjust(w) for h, w in zip(header, widths, strict=False)))
    for i, row in enumerate(cells):
        print(f"{i:<3}" + "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=False)))


def _save_csv(path: str, header: Any, table: Any) -> None:
    import csv

    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(table)


def _plot(bench: Any, rows: Any, show: Any, save_path: Any) -> None:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return  # the table and the CSV file have the numbers
    plt.figure()
    axes = plt.subplot()
    xs = [row[0] for row in rows]
    for i, label in enumerate(bench.line_names):
        column = [row[len(bench.x_names) + i] for row in rows]
        style = {} if bench.styles is None else {"color": bench.styles[i][0], "ls": bench.styles[i][1]}
        axes.plot(xs, [c[0] for c in column], label=label, **style)
        low, high = [c[1] for c in column], [c[2] for c in column]
        if None not in low and None not in high:
            axes.fill_between(xs, low, high, alpha=0.15)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if show:
        plt.show()
    if save_path:
        plt.savefig(os.path.join(save_path, f"{bench.plot_name}.png"))
    plt.close()


def perf_report(benchmarks: Any) -> Any:
    """Decorator: the function is run for every point of the benchmarks by ``.run()``."""
    return lambda fn: Mark(fn, benchmarks)


def get_dram_gbps(device: Any = None) -> float:
    """Peak memory bandwidth of the device in GB/s; 0 where it isn't known, as for a processor."""
    return 0.0


def get_max_tensorcore_tflops(dtype: Any, clock_rate: int = 0, device: Any = None) -> float:
    """Peak matrix throughput of the device; 0 where there are no tensor cores."""
    return 0.0


def get_max_simd_tflops(dtype: Any, clock_rate: int = 0, device: Any = None) -> float:
    """Peak throughput outside tensor cores; 0 where it isn't known."""
    return 0.0


def cuda_memcheck(**target_kwargs: Any) -> Any:
    """Decorator of Triton's tests: nothing to check here, the interpreter always does."""
    return lambda fn: fn


@contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Iterator[Any]:
    """Does nothing without a GPU."""
    yield 0.0, 0.0


def nvsmi(attributes: Any) -> None:
    """Facts from nvidia-smi; not available without a GPU."""
    raise RuntimeError("nvsmi needs an NVIDIA GPU")
