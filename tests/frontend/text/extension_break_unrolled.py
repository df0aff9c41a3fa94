"""break that is known while compiling ends the unrolling."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    for i in tl.static_range(4):
        if i == 1:
            continue
        if i == 3:
            break
        tl.store(x + i, i)


ARGS = {"x": "*i32"}
PORTABILITY = "off"
