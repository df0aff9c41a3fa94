"""One mistake at the top, used all over."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def kernel(x, n):
    a = oops  # wrong
    b = a + 1
    c, d = b, a
    e = twice(c) + tl.exp(d)
    if a > 0:
        f = a
    else:
        f = e
    for i in range(n):
        f += a
    g = a if n > 0 else f
    for k in tl.static_range(a):
        g += k
    while a:
        g += 1
    h = [v + a for v in (1, 2)]
    tl.store(x + a, g.to(tl.float16)[None, :], mask=f < h[0])
    tl.device_print(f"{a}", a)
    assert a, f"{a}"


ARGS = {"x": "*fp32", "n": "i32"}
