// Comparing what two tiers computed: element by element, within a tolerance (vm/numerics/tolerance.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vm/bytecode/types.h"
#include "vm/numerics/tolerance.h"

namespace trivet::jit {

// A tensor as two tiers left it: two copies of one memory, seen through one view.
struct TensorPair {
  vm::DType dtype = vm::DType::kNone;
  const void* reference = nullptr;  // element [0, 0, ...] of the interpreter's copy
  const void* actual = nullptr;     // of the faster tier's
  std::vector<int64_t> shape;       // in elements; empty: one element
  std::vector<int64_t> strides;     // in elements, may be 0 or negative
};

// The bound of vm::Tolerance, with its two unknowns. Integers must be equal whatever it says.
struct ComparisonRule {
  vm::Tolerance tolerance;
  double argument = 0;  // |x|, for ulp_per_argument
  double terms = 0;     // sum of |terms|, for relative_to_terms
};

struct ElementDifference {
  std::vector<int64_t> index;
  uint64_t offset_bytes = 0;  // from element [0, 0, ...]; wraps where strides are negative
  std::string reference;      // as text, with all its digits
  std::string actual;
  double ulp =
      0;  // distance in ulps of the reference; of integers, the difference; infinite if NaN or infinity is missing
};

struct Comparison {
  int64_t num_elements = 0;
  int64_t num_different = 0;               // beyond the tolerance
  std::optional<ElementDifference> first;  // in row-major order
  std::optional<ElementDifference> worst;  // the largest ulp
  double max_ulp = 0;                      // also within the tolerance; of elements that are finite on both sides

  bool is_equal() const { return num_different == 0; }
};

// Compares each element. NaN must meet NaN, whatever its bits, and infinity the same infinity. The sign of a zero
// counts only where the tolerance is exact.
Comparison CompareTensors(const TensorPair& tensors, const ComparisonRule& rule);

// The largest magnitude among the finite elements of the reference; 0 of integers and where there is none.
double LargestMagnitude(const TensorPair& tensors);

// "y[3, 7]: 1.5 on the interpreter, 1.75 here (2 ulp)"
std::string Describe(const std::string& tensor, const ElementDifference& difference);

}  // namespace trivet::jit
