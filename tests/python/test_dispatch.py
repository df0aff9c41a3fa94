"""Tiers: the memory of the arguments chooses, a refusal falls through, and everything is counted."""

import logging

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl
from trivet import dispatch, tiers
from trivet.errors import LaunchError, TierRefusal


@triton.jit
def _add_one(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) + 1)


class _Recorder:
    """A tier that notes what it is given."""

    name = "recorder"
    forms = ("spoken",)

    def __init__(self, device_kind, refusal=None):
        self.device_kind = device_kind
        self.refusal = refusal
        self.calls = []

    def launch(self, kernel, arguments, grid, options, device):
        if self.refusal is not None:
            raise self.refusal
        words, allocations = [], []
        for argument in arguments:
            argument.append_to(words, allocations)
        self.calls.append((kernel.name, words, grid, dict(options), device))

    def resources(self, kernel):
        return dispatch.Resources(n_regs=40, n_spills=2, shared=4096)

    def form(self, kernel, name):
        return f"{name} {kernel.name}"


class _Elsewhere:
    """A tensor whose memory is not this machine's."""

    dtype = np.dtype("float32")
    shape = (4,)

    class device:
        type = "elsewhere"
        index = 3

    def data_ptr(self):
        return 0x1000

    def stride(self):
        return (1,)

    def element_size(self):
        return 4


@pytest.fixture
def tier(request):
    added = []

    def add(tier, first=False):
        dispatch.register(tier, first)
        added.append(tier)
        return tier

    yield add
    for tier in added:
        dispatch.unregister(tier)


def test_the_interpreter_runs_memory_of_this_machine():
    before = dispatch.launches["interpreter"]
    x = np.zeros(4, np.float32)
    _add_one[(3,)](x, 4)
    assert dispatch.launches["interpreter"] == before + 1
    assert dispatch.current() is tiers.interpreter


def test_device_memory_goes_to_its_tier(tier):
    recorder = tier(_Recorder("elsewhere"))
    _add_one[2, 1](_Elsewhere(), 4, num_warps=8)
    assert recorder.calls == [("_add_one", [[0x1000]], (2, 1, 1), {"num_warps": 8}, dispatch.Device("elsewhere", 3))]
    assert dispatch.current() is recorder


def test_no_tier_for_a_device():
    with pytest.raises(LaunchError, match="argument 'x' is on device .*: this build runs kernels on CPU tensors"):
        _add_one[(1,)](_Elsewhere(), 4)


@triton.jit
def _pair(x, pair):
    tl.store(x, tl.load(pair[1]))


def test_mixed_devices_are_refused_naming_both(tier):
    tier(_Recorder("elsewhere"))
    with pytest.raises(
        LaunchError,
        match=r"_pair: argument 'x' is on device 'cpu' and argument 'pair.1' on 'elsewhere:3'; all tensors of a launch",
    ):
        _pair[(1,)](np.zeros(4, np.float32), (1, _Elsewhere()))


def test_a_refusal_falls_through_counted_and_logged_once(tier, caplog):
    refusal = TierRefusal("there are no such atomics", op="atomic_rmw", location="kernel.py:7")
    tier(_Recorder("cpu", refusal), first=True)
    x = np.zeros(4, np.float32)
    about = ("recorder", "_add_one", "kernel.py:7: atomic_rmw: there are no such atomics")
    dispatch._logged.discard(about)
    before = dispatch.refusals[about]
    with caplog.at_level(logging.WARNING, logger="trivet"):
        _add_one[(1,)](x, 4)
        _add_one[(1,)](x, 4)
    assert x.tolist() == [2.0] * 4
    assert dispatch.refusals[about] == before + 2
    assert [r.getMessage() for r in caplog.records] == [
        "_add_one: the tier 'recorder' refuses, the next one runs it: kernel.py:7: atomic_rmw: there are no such atomics"
    ]


def test_falling_back_can_be_an_error(tier, monkeypatch):
    tier(_Recorder("cpu", TierRefusal("no")), first=True)
    monkeypatch.setenv("TRIVET_FALLBACK", "error")
    with pytest.raises(LaunchError, match=r"_add_one can't run on the tier 'recorder': no \(TRIVET_FALLBACK=error\)"):
        _add_one[(1,)](np.zeros(4, np.float32), 4)
    monkeypatch.setenv("TRIVET_FALLBACK", "perhaps")
    with pytest.raises(ValueError, match="TRIVET_FALLBACK must be log or error, found 'perhaps'"):
        _add_one[(1,)](np.zeros(4, np.float32), 4)


def test_when_all_refuse_the_reasons_are_told(tier):
    tier(_Recorder("elsewhere", TierRefusal("too large")))
    with pytest.raises(LaunchError, match="_add_one: too large"):
        _add_one[(1,)](_Elsewhere(), 4)


def test_forms_and_resources_come_from_the_tiers(tier):
    tier(_Recorder("elsewhere"))
    kernel = _add_one.warmup(triton.MockTensor(tl.float32), 4, grid=(1,))
    assert set(kernel.asm) >= {"tvbc", "tvt", "spoken"}
    assert kernel.asm["spoken"] == "spoken _add_one"
    assert (kernel.n_regs, kernel.n_spills, kernel.shared) == (40, 2, 4096)
    with pytest.raises(KeyError):
        kernel.asm["unheard"]


def test_arguments_are_bound_by_form():
    @triton.jit
    def gather(a, *rest, b, c: tl.constexpr = 4):
        pass

    bind = gather._binder.bind
    assert bind((1, 2, 3), {"b": 5}) == ([1, (2, 3), 5, 4], {})
    assert bind((1,), {"b": 5, "num_warps": 8}) == ([1, (), 5, 4], {"num_warps": 8})
    assert bind((), {"c": 6, "b": 5, "a": 1}) == ([1, (), 5, 6], {})
    assert bind((7, 8, 9), {"b": 5}) == ([7, (8, 9), 5, 4], {})
    for args, kwargs, message in (
        ((1,), {}, r"gather\(\) is missing 1 argument\(s\): b"),
        ((1,), {"a": 2, "b": 5}, r"gather\(\) got multiple values for argument 'a'"),
        (
            (1,),
            {"b": 5, "d": 5},
            r"gather\(\) got an unexpected keyword argument 'd'; its parameters are a, rest, b, c",
        ),
    ):
        with pytest.raises(LaunchError, match=message):
            bind(args, kwargs)
