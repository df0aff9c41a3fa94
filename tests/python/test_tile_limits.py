"""Every way to a tile with more elements or axes than a tile may have: a compile error that says so, never an abort."""

import re

import numpy as np
import pytest

import trivet as triton
from generated_kernels import kernel_from

# Expressions over two vectors of 2048, a column and a row made of them, a vector of 2^20, and pointers.
TOO_MANY = """
tl.arange(0, 2097152)
tl.zeros([2048, 1024], tl.float32)
tl.zeros([2048, 1024, 4], tl.float32)
tl.full([2097152], 1, tl.int8)
tl.full((2048, 1024), i, tl.int32)
tl.broadcast_to(column, 2048, 2048)
tl.broadcast_to(i, [2048, 1024])
tl.broadcast_to(0.5, [2048, 1024])
tl.broadcast(column, row)
column + row
column - row
column * row.to(tl.float32)
column / row
column // row
column % row
column & row
column << row
column < row
column == row
(column > 0) and (row > 0)
(column > 0) or (row > 0)
p + column + row
-column + row
tl.where(column > row, 1, 0)
tl.where(column > 0, row, 0)
tl.where(True, column, row)
tl.maximum(column, row)
tl.clamp(column.to(tl.float32), 0.0, row.to(tl.float32))
tl.clamp(column.to(tl.float32), row.to(tl.float32), 1.0)
tl.fma(column.to(tl.float32), row.to(tl.float32), 1.0)
tl.fdiv(column.to(tl.float32), row.to(tl.float32))
tl.umulhi(column, row)
tl.math.sqrt(column.to(tl.float32) * row)
libdevice.pow(column.to(tl.float32), row.to(tl.float32))
libdevice.ldexp(column.to(tl.float32), row)
libdevice.mulhi(column, row)
tl.join(big, big)
tl.join(column, row)
tl.interleave(big, big)
tl.cat(big, big, can_reorder=True)
tl.cat(tl.reshape(big, (1024, 1024)), tl.reshape(big, (1024, 1024)), dim=1)
tl.dot(tl.zeros([2048, 16], tl.float16), tl.zeros([16, 2048], tl.float16))
tl.dot(tl.zeros([2048, 16], tl.float16), tl.zeros([16, 2048], tl.float16), 0.0)
tl.dot(tl.zeros([4096, 16, 16], tl.float16), tl.zeros([4096, 16, 32], tl.float16))
tl.dot(tl.zeros([64, 64, 16, 16], tl.float16), tl.zeros([64, 64, 16, 32], tl.float16))
tl.dot_scaled(tl.zeros([2048, 32], tl.uint8), None, 'e4m3', tl.zeros([32, 1024], tl.uint8), None, 'e4m3')
tl.expand_dims(big, 0) + tl.zeros([2, 1], tl.int32)
big[None, :] * tl.arange(0, 2)[:, None]
tl.reshape(big, (1048576, 1)) + tl.arange(0, 2)
tl.trans(column) + row[:, :, None]
tl.load(p + column, mask=row > 0)
tl.load(p + column, mask=row > 0, other=1.0)
tl.store(p + column, row)
tl.store(p + column, 1.0, mask=row > 0)
tl.atomic_add(p + column, row)
tl.atomic_add(p + column, 1.0, mask=row > 0)
tl.atomic_cas(p + column, row, 1.0)
tl.device_assert(column > 0, 'x', row > 0)
tl.map_elementwise(larger, column, row)
tl.inline_asm_elementwise('add.s32 $0, $1, $2;', '=r,r,r', [column, row], tl.int32, True, 1)
tl.histogram(i, 2097152)
tl.make_block_ptr(p, (4096, 4096), (4096, 1), (0, 0), (2048, 1024), (1, 0))
tl.make_tensor_descriptor(p, [4096, 4096], [4096, 1], [2048, 1024])
tl.make_tensor_descriptor(p, [4096, 4096], [4096, 1], [1, 1024]).gather(tl.arange(0, 2048), 0)
(column + row) + missing_as_well
column if n > 0 else column + row
outer(column, row)
tl.sum(column + row)
tl.softmax(column.to(tl.float32) + row)
tl.rand(0, column + row)
(column.to(tl.int64) + row).to(tl.float32).sum(0)
""".strip().splitlines()

# Twenty axes of big extents: their product does not fit into 64 bits.
SPREAD = "tl.map_elementwise(larger, " + ", ".join(
    f"tl.reshape(big, [{', '.join('1048576' if i == j else '1' for j in range(20))}])" for i in range(20)
)

HEAD = """
from triton.language.extra import libdevice

@triton.jit
def larger(a, b):
    return tl.maximum(a, b)

@triton.jit
def outer(a, b):
    return a * b

"""

BODY = """
def kernel(p, n):
    i = tl.arange(0, 2048)
    column, row = i[:, None], i[None, :]
    big = tl.arange(0, 1048576)
    result = {}
"""


def compile_error(expression: str) -> str:
    kernel = kernel_from(HEAD.replace("from triton.", "from trivet.") + BODY.format(expression), "kernel")
    with pytest.raises(triton.errors.CompileError) as error:
        kernel[(1,)](np.zeros(16, np.float32), 4)
    return str(error.value)


@pytest.mark.parametrize("expression", [*TOO_MANY, SPREAD + ")"], ids=lambda text: text[:60])
def test_too_many_elements(expression: str) -> None:
    if "missing_as_well" in expression:
        assert len(re.findall("error:", compile_error(expression))) == 2
        return
    message = compile_error(expression)
    assert re.search(r"more elements than a tile may have \(1048576\)", message), message
    assert len(re.findall("error:", message)) == 1, message


@pytest.mark.parametrize(
    "expression",
    [
        "tl.reshape(i, [2048" + ", 1" * 24 + "])",
        "tl.zeros([1" + ", 1" * 24 + "], tl.int32)",
        "i[:" + ", None" * 24 + "]",
        "tl.expand_dims(i, [" + ", ".join(str(axis) for axis in range(1, 25)) + "])",
        "tl.join(tl.reshape(i, [2048" + ", 1" * 23 + "]), 0)",
    ],
    ids=lambda text: text[:60],
)
def test_too_many_axes(expression: str) -> None:
    message = compile_error(expression)
    assert "rank 25 is larger than 24" in message
    assert len(re.findall("error:", message)) == 1, message


def test_the_largest_tile() -> None:
    out = np.zeros(2, np.int64)
    source = "def kernel(p):\n    x = tl.arange(0, 1024)[:, None] * tl.arange(0, 1024)[None, :]\n    tl.store(p, tl.sum(x.to(tl.int64)))\n"
    kernel_from(source, "kernel")[(1,)](out)
    assert out[0] == (1023 * 512) ** 2
