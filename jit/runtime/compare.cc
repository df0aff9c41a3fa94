#include "jit/runtime/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "vm/base/check.h"
#include "vm/interpreter/element_dispatch.h"

namespace trivet::jit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is needed of an element type: its value, its text, its ulp.
template <typename T>
struct Element {
  static std::string ToText(T value) { return absl::StrCat(value); }
};
template <>
struct Element<float> {
  static double Value(float value) { return double{value}; }
  static double Ulp(double value) { return vm::UlpOf(vm::FloatFormat::kF32, value); }
  static std::string ToText(float value) { return absl::StrFormat("%.9g", value); }
};
template <>
struct Element<double> {
  static double Value(double value) { return value; }
  static double Ulp(double value) { return vm::UlpOfF64(value); }
  static std::string ToText(double value) { return absl::StrFormat("%.17g", value); }
};
template <vm::NarrowFloatElement T>
struct Element<T> {
  static double Value(T value) { return vm::DecodeFloat(T::kFormat, value.bits); }
  static double Ulp(double value) { return vm::UlpOf(T::kFormat, value); }
  static std::string ToText(T value) { return absl::StrFormat("%.9g", Value(value)); }
};

// How far apart two elements are, and whether that is too far.
struct Distance {
  double ulp = 0;
  bool is_too_far = false;
};

template <typename T>
Distance DistanceOf(T reference, T actual, const ComparisonRule& rule) {
  if constexpr (std::is_integral_v<T>) {
    const double difference = std::fabs(static_cast<double>(reference) - static_cast<double>(actual));
    return {std::max(difference, 1.0), true};  // called for elements that differ only
  } else {
    const double wanted = Element<T>::Value(reference);
    const double got = Element<T>::Value(actual);
    if (std::isnan(wanted) && std::isnan(got)) return {};
    if (!std::isfinite(wanted) || !std::isfinite(got)) return {kInfinity, wanted != got};
    const vm::Tolerance& tolerance = rule.tolerance;
    if (wanted == got) return {0, tolerance.is_exact()};  // zeros of both signs
    const double ulp = Element<T>::Ulp(wanted);
    const double distance = std::fabs(wanted - got);
    const double bound = (tolerance.ulp + tolerance.ulp_per_argument * rule.argument) * ulp + tolerance.absolute +
                         tolerance.relative_to_terms * rule.terms;
    return {distance / ulp, !(distance <= bound)};
  }
}

// Calls visit(index, offset in elements) for each element, the last dimension fastest.
template <typename Visitor>
void ForEachElement(const TensorPair& tensors, const Visitor& visit) {
  const size_t rank = tensors.shape.size();
  if (std::any_of(tensors.shape.begin(), tensors.shape.end(), [](int64_t extent) { return extent <= 0; })) return;
  std::vector<int64_t> index(rank, 0);
  int64_t offset = 0;
  while (true) {
    visit(index, offset);
    size_t axis = rank;
    while (axis > 0) {
      --axis;
      offset += tensors.strides[axis];
      if (++index[axis] < tensors.shape[axis]) break;
      offset -= tensors.strides[axis] * tensors.shape[axis];
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (rank == 0) return;
  }
}

template <typename T>
T At(const void* base, int64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + offset * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

template <typename T>
Comparison Compare(const TensorPair& tensors, const ComparisonRule& rule) {
  Comparison result;
  ForEachElement(tensors, [&](const std::vector<int64_t>& index, int64_t offset) {
    ++result.num_elements;
    const T reference = At<T>(tensors.reference, offset);
    const T actual = At<T>(tensors.actual, offset);
    if (std::memcmp(&reference, &actual, sizeof reference) == 0) return;
    const Distance distance = DistanceOf<T>(reference, actual, rule);
    if (std::isfinite(distance.ulp)) result.max_ulp = std::max(result.max_ulp, distance.ulp);
    if (!distance.is_too_far) return;
    ++result.num_different;
    const bool is_worst = !result.worst.has_value() || distance.ulp > result.worst->ulp;
    if (!is_worst && result.first.has_value()) return;
    const ElementDifference difference{
        .index = index,
        .offset_bytes = static_cast<uint64_t>(offset * static_cast<int64_t>(sizeof reference)),
        .reference = Element<T>::ToText(reference),
        .actual = Element<T>::ToText(actual),
        .ulp = distance.ulp,
    };
    if (!result.first.has_value()) result.first = difference;
    if (is_worst) result.worst = difference;
  });
  return result;
}

}  // namespace

Comparison CompareTensors(const TensorPair& tensors, const ComparisonRule& rule) {
  TRIVET_CHECK(tensors.strides.size() == tensors.shape.size());
  return vm::VisitElement(tensors.dtype, [&]<typename T>() { return Compare<T>(tensors, rule); });
}

double LargestMagnitude(const TensorPair& tensors) {
  return vm::VisitElement(tensors.dtype, [&]<typename T>() {
    double largest = 0;
    if constexpr (!std::is_integral_v<T>) {
      ForEachElement(tensors, [&](const std::vector<int64_t>&, int64_t offset) {
        const double value = std::fabs(Element<T>::Value(At<T>(tensors.reference, offset)));
        if (std::isfinite(value)) largest = std::max(largest, value);
      });
    }
    return largest;
  });
}

std::string Describe(const std::string& tensor, const ElementDifference& difference) {
  const std::string distance = std::isfinite(difference.ulp) ? absl::StrFormat(" (%.6g ulp)", difference.ulp) : "";
  return absl::StrCat(tensor, "[", absl::StrJoin(difference.index, ", "), "]: ", difference.reference,
                      " on the interpreter, ", difference.actual, " here", distance);
}

}  // namespace trivet::jit
