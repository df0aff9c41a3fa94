// Float formats by their definition: every code decoded by arithmetic, rounding by search among all values. Slow and
// plain; expected values come from here, in long double, whose 64 bits hold every integer and every f64 exactly.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/interpreter/handler_harness.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

enum class ModelRounding { kNearest, kTowardZero, kUp, kDown };  // kNearest: the format's own rule for ties
enum class ModelOverflow { kInfinity, kSaturate };

class FloatModel {
 public:
  static const FloatModel& Of(DType dtype);

  DType dtype() const { return dtype_; }
  int storage_bytes() const { return storage_bytes_; }
  // The number that `code` stands for, NaN and infinities included.
  long double Decode(uint64_t code) const;
  // The codes of values worth a test: zeros, subnormals, ones, extremes, infinities, NaN, and some in between.
  std::vector<uint64_t> Edges() const;
  // The code of `value` rounded once.
  uint64_t Encode(long double value, ModelRounding rounding = ModelRounding::kNearest,
                  ModelOverflow overflow = ModelOverflow::kInfinity) const;
  // The code of the least magnitude above zero, and of the largest finite one.
  uint64_t largest_code() const;
  // True if both are NaN or the same code.
  bool SameCode(uint64_t a, uint64_t b) const;
  bool IsNan(uint64_t code) const;
  bool has_minus_zero() const { return specials_ != 'z'; }
  Bytes Store(const std::vector<uint64_t>& codes) const;

 private:
  FloatModel(DType dtype, int exponent_bits, int mantissa_bits, int bias, char specials);
  uint64_t SignBit() const { return uint64_t{1} << (8 * storage_bytes_ - 1); }
  uint64_t EncodeHost(long double value, ModelRounding rounding, ModelOverflow overflow) const;

  DType dtype_;
  int storage_bytes_;
  int exponent_bits_;
  int mantissa_bits_;
  int bias_;
  char specials_;  // 'i': IEEE; 'n': NaN is all ones, no infinity; 'z': NaN is the code of -0; 'f': all are finite
  std::vector<long double> magnitudes_;  // of codes 0, 1, ...; narrow formats only
};

// All float types.
std::vector<DType> FloatTypes();

}  // namespace trivet::vm
