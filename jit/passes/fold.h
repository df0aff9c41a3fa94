// Evaluates ops on known elements, to the bit as the interpreter does: with the functions of vm/numerics that it uses.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

// The bits of an element of the result, from those of the operands; nothing for ops that are not folded. Folded are
// elementwise integer ops, comparisons of integers, selects, casts between integers, and negation and absolute value of
// floats. (Float arithmetic on constants is rare in kernels, and wrong in its last bit is worse than slow.)
std::optional<int64_t> FoldElement(const vm::Function& fn, const vm::Operation& op, absl::Span<const int64_t> operands);

}  // namespace trivet::jit
