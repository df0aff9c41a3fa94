"""Settings and hooks under the names that programs written for Triton use."""

import pytest
import torch

import trivet as triton
import trivet.language as tl
from trivet import knobs


def _make_kernel(**options):
    @triton.jit(**options)
    def fill(out, value, SIZE: tl.constexpr):
        tl.store(out + tl.arange(0, SIZE), value)

    return fill


def test_a_setting_is_what_was_assigned_else_the_environment_else_the_default(monkeypatch):
    monkeypatch.delenv("TRITON_DEBUG", raising=False)
    with knobs.runtime.scope():
        assert knobs.runtime.debug is False
        monkeypatch.setenv("TRITON_DEBUG", "1")
        assert knobs.runtime.debug is True
        knobs.runtime.debug = False
        assert knobs.runtime.debug is False
        del knobs.runtime.debug
        assert knobs.runtime.debug is True


def test_scope_undoes_assignments():
    before = knobs.cache.dir
    with knobs.cache.scope():
        knobs.cache.dir = "/elsewhere"
        assert knobs.cache.dir == "/elsewhere"
    assert knobs.cache.dir == before


def test_an_unknown_setting_is_an_error():
    with pytest.raises(AttributeError, match="Runtime has no setting 'degub'"):
        knobs.runtime.degub = True


def test_hooks_of_a_launch_get_its_metadata():
    seen = []
    fill = _make_kernel(launch_metadata=lambda grid, metadata, arguments: {"grid": grid, "value": arguments["value"]})
    enter, leave = (lambda m: seen.append(("enter", m.get()))), (lambda m: seen.append(("leave", m.get()["name"])))
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    try:
        fill[(2, 3)](torch.empty(4), 7.0, SIZE=4)
    finally:
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    fill[(1,)](torch.empty(4), 7.0, SIZE=4)
    assert [what for what, _ in seen] == ["enter", "leave"]
    assert seen[0][1] == {"name": "fill", "function": None, "stream": 0, "grid": (2, 3, 1), "value": 7.0}
    assert seen[1][1] == "fill"


def test_loading_is_announced_once():
    seen = []
    fill = _make_kernel()
    hook = lambda module, function, name, metadata_group, hash: seen.append((name, hash))  # noqa: E731
    knobs.runtime.kernel_load_start_hook.add(hook)
    try:
        for _ in range(2):
            kernel = fill[(1,)](torch.empty(4), 7.0, SIZE=4)
    finally:
        knobs.runtime.kernel_load_start_hook.remove(hook)
    assert seen == [("fill", kernel.hash)]


def test_hooks_of_compilation_see_options_and_can_cancel():
    seen = []
    fill, out = _make_kernel(), torch.zeros(4)
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **about: seen.append(about["is_manual_warmup"])
        knobs.runtime.jit_post_compile_hook = lambda **about: seen.append(about["compile"])
        for _ in range(2):  # the second finds it compiled, also with an option that can't be hashed
            fill[(1,)](out, 7.0, SIZE=4, num_warps=2, extern_libs={"a": "b"})
        assert seen[0] is False
        assert (
            seen[1]["num_warps"] == 2
            and seen[1]["extern_libs"] == (("a", "b"),)
            and seen[1]["constants"] == {"SIZE": 4}
        )
        assert len(seen) == 2
        knobs.runtime.jit_cache_hook = lambda **about: True
        assert fill[(1,)](out, 9.0, SIZE=2) is None
    assert out.tolist() == [7.0] * 4


def test_allowing_plain_globals_from_python(monkeypatch):
    namespace = globals()
    monkeypatch.setitem(namespace, "_PLAIN", 3)

    @triton.jit
    def store_global(out):
        tl.store(out, _PLAIN)  # noqa: F821

    out = torch.zeros(1)
    with pytest.raises(triton.CompilationError):
        store_global[(1,)](out)
    with knobs.compilation.scope():
        knobs.compilation.allow_non_constexpr_globals = True
        store_global[(1,)](out)
    assert out.item() == 3


def test_optional_tensors_may_be_listed_for_resetting_and_restoring():
    @triton.autotune([triton.Config({"SIZE": s}) for s in (2, 4)], key=[], reset_to_zero=["extra"], restore_value=["other"],
                     do_bench=lambda call, quantiles: (call(), [1.0, 1.0, 1.0])[1])  # fmt: skip
    @triton.jit
    def fill(out, extra, other, SIZE: tl.constexpr):
        tl.store(out + tl.arange(0, SIZE), 1.0)

    out = torch.zeros(4)
    fill[(1,)](out, None, None)
    assert out[:2].tolist() == [1.0, 1.0]


def test_fresh_knobs_are_put_back():
    from trivet._internal_testing import _fresh_knobs_impl

    with knobs.cache.scope():
        knobs.cache.dir = "/elsewhere"
        fresh, restore = _fresh_knobs_impl()
        assert fresh().cache.dir != "/elsewhere"
        knobs.cache.dir = "/third"
        restore()
        assert knobs.cache.dir == "/elsewhere"
