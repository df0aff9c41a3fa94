// Conversions between element types, register by register (docs/semantics.md, "cast").
#pragma once

#include "jit/lowering/lowering_context.h"

namespace trivet::jit {

// True for f8 formats, which are i8 in registers and compute nothing themselves.
bool IsF8(vm::DType dtype);

// Any float to f32 or f64, exactly (f64 to f32 rounds to nearest). f8 formats are taken apart.
llvm::Value* WidenFloat(LoweringContext& cx, llvm::Value* value, vm::DType from, llvm::Type* to);

// A float rounded once to `to`, to nearest even (f8e4b15: ties away). Floats narrower than f32 saturate if `saturate`.
// Null where this tier can't: f8 that does not saturate.
llvm::Value* NarrowFloat(LoweringContext& cx, llvm::Value* value, vm::DType from, vm::DType to, bool saturate);

}  // namespace trivet::jit
