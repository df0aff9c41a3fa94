"""The wider float wins, f16 against bf16, u32 against i32, i64 against u32, and any float against integers."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(f16, bf16, f32, i32, u32, i64):
    tl.device_print("", f16 + bf16, f16 + f32, i32 + u32, u32 + i64, i32 * bf16, i64 - f16)


ARGS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "i32": "i32", "u32": "u32", "i64": "i64"}
