// Runs a function given as text on arrays of elements: what the tests of handlers share.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"
#include "vm/numerics/float_formats.h"

namespace trivet::vm::testing {

using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes ToBytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> FromBytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// The results of @f of the module `text`; a test failure and nothing if it is not legal or traps.
inline std::vector<Bytes> Evaluate(const std::string& text, const std::vector<Bytes>& arguments) {
  absl::StatusOr<Module> module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  const absl::Status verified = VerifyModule(*module);
  EXPECT_TRUE(verified.ok()) << verified.message() << "\n" << text;
  if (!verified.ok()) return {};
  absl::StatusOr<std::shared_ptr<const Executable>> executable = Executable::Load(*std::move(module));
  EXPECT_TRUE(executable.ok()) << executable.status().message();
  if (!executable.ok()) return {};
  absl::StatusOr<std::vector<Bytes>> results = EvaluateFunction(**executable, "f", arguments);
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results.ok() ? *std::move(results) : std::vector<Bytes>();
}

// As Evaluate, for one result of elements T; a test failure and `count` zeros if there is none.
template <typename T>
std::vector<T> EvaluateTo(size_t count, const std::string& text, const std::vector<Bytes>& arguments) {
  const std::vector<Bytes> results = Evaluate(text, arguments);
  std::vector<T> values = results.empty() ? std::vector<T>() : FromBytes<T>(results[0]);
  EXPECT_EQ(values.size(), count);
  values.resize(count);
  return values;
}

// "tile<2x3xf32>", or "f32" for an empty shape.
inline std::string TileText(const std::vector<int64_t>& shape, const std::string& dtype) {
  if (shape.empty()) return dtype;
  std::string text = "tile<";
  for (int64_t extent : shape) absl::StrAppend(&text, extent, "x");
  return absl::StrCat(text, dtype, ">");
}

// Equal bits, but that one NaN is as good as another.
inline bool SameFloat(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// An element type of the tests: its text, and its values as double or as integers.
template <typename T>
struct ElementTraits;
#define TRIVET_TEST_ELEMENT(T, text)           \
  template <>                                  \
  struct ElementTraits<T> {                    \
    static constexpr const char* kText = text; \
  };
TRIVET_TEST_ELEMENT(int8_t, "i8")
TRIVET_TEST_ELEMENT(int16_t, "i16")
TRIVET_TEST_ELEMENT(int32_t, "i32")
TRIVET_TEST_ELEMENT(int64_t, "i64")
TRIVET_TEST_ELEMENT(uint8_t, "u8")
TRIVET_TEST_ELEMENT(uint16_t, "u16")
TRIVET_TEST_ELEMENT(uint32_t, "u32")
TRIVET_TEST_ELEMENT(uint64_t, "u64")
TRIVET_TEST_ELEMENT(F8E4M3, "f8e4m3")
TRIVET_TEST_ELEMENT(F8E5M2, "f8e5m2")
TRIVET_TEST_ELEMENT(F8E4B8, "f8e4b8")
TRIVET_TEST_ELEMENT(F8E5B16, "f8e5b16")
TRIVET_TEST_ELEMENT(F8E4B15, "f8e4b15")
TRIVET_TEST_ELEMENT(F16, "f16")
TRIVET_TEST_ELEMENT(BF16, "bf16")
TRIVET_TEST_ELEMENT(float, "f32")
TRIVET_TEST_ELEMENT(double, "f64")
#undef TRIVET_TEST_ELEMENT

template <NarrowFloatElement T>
double ToDouble(T x) {
  return DecodeFloat(T::kFormat, x.bits);
}
inline double ToDouble(float x) { return x; }
inline double ToDouble(double x) { return x; }

// Rounds once, by the generic conversion.
template <typename T>
T FromDouble(double x) {
  if constexpr (NarrowFloatElement<T>) {
    const FloatFormatInfo& info = InfoOf(T::kFormat);
    return T{static_cast<typename T::Bits>(EncodeFloat(T::kFormat, x, info.default_rounding, info.default_overflow))};
  } else {
    return static_cast<T>(x);
  }
}

// Seeded elements: floats near 1 in magnitude, integers over their whole range.
template <typename T>
std::vector<T> RandomElements(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random());
    } else {
      value = FromDouble<T>(std::uniform_real_distribution<double>(-2, 2)(random));
    }
  }
  return values;
}

}  // namespace trivet::vm::testing
