"""/ of integers is f32, of halves f32; // and % of integers truncate."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(a, b, h):
    tl.device_print("", a / b, h / h, h / 2, a // 3, b % a, 7 / a)


ARGS = {"a": "i32", "b": "i64", "h": "fp16"}
