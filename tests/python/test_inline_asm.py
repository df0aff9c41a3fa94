"""PTX in tl.inline_asm_elementwise: what has a meaning without the machine runs, the rest is refused by name."""

import numpy as np
import pytest

import trivet as triton
import trivet.language as tl


@triton.jit
def two_inputs(
    x_ptr, y_ptr, out_ptr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, DTYPE: tl.constexpr, N: tl.constexpr
):
    i = tl.arange(0, N)
    out = tl.inline_asm_elementwise(
        ASM, CONSTRAINTS, [tl.load(x_ptr + i), tl.load(y_ptr + i)], DTYPE, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, out)


@triton.jit
def one_input(
    x_ptr,
    out_ptr,
    ASM: tl.constexpr,
    CONSTRAINTS: tl.constexpr,
    DTYPE: tl.constexpr,
    PACK: tl.constexpr,
    N: tl.constexpr,
):
    i = tl.arange(0, N)
    tl.store(
        out_ptr + i, tl.inline_asm_elementwise(ASM, CONSTRAINTS, [tl.load(x_ptr + i)], DTYPE, is_pure=True, pack=PACK)
    )


@triton.jit
def two_outputs(x_ptr, y_ptr, first_ptr, second_ptr, ASM: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    first, second = tl.inline_asm_elementwise(ASM, "=r,=r,r,r", [x, y], (tl.uint32, tl.uint32), is_pure=True, pack=1)
    tl.store(first_ptr + i, first)
    tl.store(second_ptr + i, second)


U32 = np.array([0, 1, 7, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 31], np.uint32)
V32 = np.array([5, 0, 9, 1, 2, 0x0F0F0F0F, 0xFFFF0000, 4], np.uint32)


def rotate_left(x, n):
    n = n & np.uint32(31)
    return (x << n) | np.where(n == 0, np.uint32(0), x >> ((np.uint32(32) - n) & np.uint32(31)))


@pytest.mark.parametrize(
    "asm, expected",
    [
        ("add.u32 $0, $1, $2;", lambda x, y: x + y),
        ("mul.lo.u32 $0, $1, $2;", lambda x, y: x * y),
        ("mul.hi.u32 $0, $1, $2;", lambda x, y: ((x.astype(np.uint64) * y) >> np.uint64(32)).astype(np.uint32)),
        ("and.b32 $0, $1, $2;", lambda x, y: x & y),
        ("not.b32 $0, $1;", lambda x, y: ~x),
        ("lop3.b32 $0, $1, $2, 0, 0x3c;", lambda x, y: x ^ y),
        ("shf.l.wrap.b32 $0, $1, $1, $2;", rotate_left),
        ("prmt.b32 $0, $1, $2, 0x0123;", lambda x, y: x.byteswap()),
        ("max.s32 $0, $1, $2;", lambda x, y: np.maximum(x.view(np.int32), y.view(np.int32)).view(np.uint32)),
        ("{ .reg .pred p; setp.lt.u32 p, $1, $2; selp.u32 $0, $1, $2, p; }", np.minimum),
        (
            "{ .reg .pred p;\n setp.eq.u32 p, $1, 7; // seven\n mov.u32 $0, $2;\n @p mov.u32 $0, 70; }",
            lambda x, y: np.where(x == 7, 70, y),
        ),
        ("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, $1; mov.b32 $0, {hi, lo}; }", lambda x, y: (x >> 16) | (x << 16)),
    ],
)
def test_integers(asm, expected):
    out = np.zeros(8, np.uint32)
    with np.errstate(over="ignore"):
        want = expected(U32, V32).astype(np.uint32)
    two_inputs[(1,)](U32, V32, out, ASM=asm, CONSTRAINTS="=r,r,r", DTYPE=tl.uint32, N=8)
    assert out.tolist() == want.tolist()


def test_two_outputs():
    first, second = np.zeros(8, np.uint32), np.zeros(8, np.uint32)
    two_outputs[(1,)](U32, V32, first, second, ASM="sub.u32 $0, $2, $3; sub.u32 $1, $3, $2;", N=8)
    assert first.tolist() == (U32 - V32).tolist()
    assert second.tolist() == (V32 - U32).tolist()


def test_packed_bytes():
    """Four i8 share a register, lowest first."""
    x = np.arange(32, dtype=np.int8)
    out = np.zeros(32, np.int8)
    asm = "and.b32 $0, $1, 0x1F1F1F1F; shl.b32 $0, $0, 3;"
    one_input[(1,)](x, out, ASM=asm, CONSTRAINTS="=r,r", DTYPE=tl.int8, PACK=4, N=32)
    assert out.tolist() == ((x & 0x1F).astype(np.uint8) << 3).astype(np.uint8).view(np.int8).tolist()


def test_float_functions():
    x = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 10.0], np.float32)
    out = np.zeros(8, np.float32)
    for asm, function in (
        ("tanh.approx.f32 $0, $1;", np.tanh),
        ("ex2.approx.ftz.f32 $0, $1;", np.exp2),
        ("abs.f32 $0, $1;", np.abs),
    ):
        one_input[(1,)](x, out, ASM=asm, CONSTRAINTS="=f,f", DTYPE=tl.float32, PACK=1, N=8)
        np.testing.assert_allclose(out, function(x.astype(np.float64)), rtol=1e-6)


def test_two_halves_in_a_register():
    x = np.linspace(-4, 4, 16).astype(np.float32)
    out = np.zeros(16, np.float16)
    one_input[(1,)](x, out, ASM="cvt.rn.f16x2.f32 $0, $2, $1;", CONSTRAINTS="=r,f,f", DTYPE=tl.float16, PACK=2, N=16)
    assert np.array_equal(out, x.astype(np.float16))


@pytest.mark.parametrize(
    "asm, named",
    [
        ("mov.u32 $0, %tid.x;", "%tid.x"),
        ("ld.global.u32 $0, [$1];", "[$1]"),
        ("bar.sync 0;", "bar.sync"),
        ("frobnicate.u32 $0, $1, $2;", "frobnicate"),
        ("add.u32 $1, $1, $2;", "never writes $0"),
        ("add.u32 $0, t, $2;", "read before it is written"),
    ],
)
def test_refused(asm, named):
    out = np.zeros(8, np.uint32)
    with pytest.raises(triton.CompilationError) as error:
        two_inputs[(1,)](U32, V32, out, ASM=asm, CONSTRAINTS="=r,r,r", DTYPE=tl.uint32, N=8)
    assert named in str(error.value)
    assert "test_inline_asm.py" in str(error.value)
