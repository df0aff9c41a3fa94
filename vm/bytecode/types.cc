#include "vm/bytecode/types.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/base/check.h"

namespace trivet::vm {
namespace {

constexpr DTypeInfo kDTypes[] = {
#define TRIVET_DTYPE(code, Name, text, triton, bits, bytes, Class) \
  {DType::k##Name, text, triton, bits, bytes, DTypeClass::k##Class},
#include "vm/bytecode/dtypes.def"
};
constexpr size_t kNumDTypes = std::size(kDTypes);

constexpr bool CodesAreDense() {
  for (size_t i = 0; i < kNumDTypes; ++i) {
    if (static_cast<size_t>(kDTypes[i].dtype) != i + 1) return false;
  }
  return true;
}
static_assert(CodesAreDense(), "dtypes.def: codes count up from 1");

}  // namespace

const DTypeInfo& InfoOf(DType dtype) {
  TRIVET_CHECK(IsDTypeCode(static_cast<uint64_t>(dtype)), "not an element type");
  return kDTypes[static_cast<size_t>(dtype) - 1];
}

absl::Span<const DTypeInfo> AllDTypes() { return kDTypes; }

DType DTypeFromText(absl::string_view text) {
  for (const DTypeInfo& info : kDTypes) {
    if (text == info.text) return info.dtype;
  }
  return DType::kNone;
}

DType DTypeFromTriton(absl::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (name == info.triton_name) return info.dtype;
  }
  return DType::kNone;
}

bool IsDTypeCode(uint64_t code) { return code >= 1 && code <= kNumDTypes; }

int64_t Type::num_elements() const {
  int64_t n = 1;
  for (int64_t extent : shape_) n *= extent;
  return n;
}

int64_t Type::value_bytes() const {
  switch (kind_) {
    case TypeKind::kNone:
      return 0;
    case TypeKind::kValue:
      return num_elements() * element_bytes();
    case TypeKind::kBlockPtr:
      return 8 * (1 + 3 * int64_t{rank()});  // base, shape, strides, offsets
    case TypeKind::kDesc:
      return 8 * (2 + 2 * int64_t{rank()});  // base, padding, shape, strides
  }
  return 0;
}

std::string ShapeToString(absl::Span<const int64_t> shape) { return absl::StrJoin(shape, "x"); }

std::string Type::ToString() const {
  if (is_none()) return "none";
  std::string element = InfoOf(dtype_).text;
  for (int i = 0; i < pointer_depth_; ++i) element = absl::StrCat("ptr<", element, ">");
  switch (kind_) {
    case TypeKind::kValue:
      return is_scalar() ? element : absl::StrCat("tile<", ShapeToString(shape_), "x", element, ">");
    case TypeKind::kBlockPtr:
      return absl::StrCat("blockptr<", ShapeToString(shape_), "x", element, ">");
    case TypeKind::kDesc:
      return absl::StrCat("desc<", ShapeToString(shape_), "x", element, ">");
    case TypeKind::kNone:
      break;
  }
  return "none";
}

}  // namespace trivet::vm
