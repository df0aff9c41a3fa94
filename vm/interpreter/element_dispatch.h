// From an element type known at decoding to a C++ type known to the compiler.
//
//   VisitElement(type.dtype(), [&]<typename T>() { return Handler(&ExecSort<T>); })
#pragma once

#include <cstdint>
#include <type_traits>

#include "vm/base/check.h"
#include "vm/bytecode/types.h"
#include "vm/numerics/float_formats.h"

namespace trivet::vm {

// What arithmetic on elements of type T is done in: f32 for the narrow floats, T itself for all others.
template <typename T>
using ComputeType = std::conditional_t<NarrowFloatElement<T>, float, T>;

// Calls visit.template operator()<T>() with the storage type of `dtype` (i1: uint8_t holding 0 or 1).
template <typename Visitor>
auto VisitElement(DType dtype, const Visitor& visit) {
  switch (dtype) {
    case DType::kI1:
    case DType::kU8:
      return visit.template operator()<uint8_t>();
    case DType::kI8:
      return visit.template operator()<int8_t>();
    case DType::kI16:
      return visit.template operator()<int16_t>();
    case DType::kI32:
      return visit.template operator()<int32_t>();
    case DType::kI64:
      return visit.template operator()<int64_t>();
    case DType::kU16:
      return visit.template operator()<uint16_t>();
    case DType::kU32:
      return visit.template operator()<uint32_t>();
    case DType::kU64:
      return visit.template operator()<uint64_t>();
    case DType::kF8E4M3:
      return visit.template operator()<F8E4M3>();
    case DType::kF8E5M2:
      return visit.template operator()<F8E5M2>();
    case DType::kF8E4B8:
      return visit.template operator()<F8E4B8>();
    case DType::kF8E5B16:
      return visit.template operator()<F8E5B16>();
    case DType::kF8E4B15:
      return visit.template operator()<F8E4B15>();
    case DType::kF16:
      return visit.template operator()<F16>();
    case DType::kBF16:
      return visit.template operator()<BF16>();
    case DType::kF32:
      return visit.template operator()<float>();
    case DType::kF64:
      return visit.template operator()<double>();
    case DType::kNone:
      break;
  }
  TRIVET_CHECK(false, "an element type of a verified module");
  __builtin_unreachable();
}

}  // namespace trivet::vm
