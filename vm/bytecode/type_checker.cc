#include "vm/bytecode/type_checker.h"

#include <algorithm>

#include "absl/strings/str_join.h"

namespace trivet::vm {
namespace {

std::string DTypeList(absl::Span<const DType> dtypes) {
  return absl::StrJoin(dtypes, ", ", [](std::string* out, DType dtype) { out->append(InfoOf(dtype).text); });
}

bool Contains(absl::Span<const DType> dtypes, DType dtype) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

}  // namespace

bool TypeChecker::Must(bool condition, const Slot& slot, absl::string_view be) {
  return condition || Fail(slot.name(), " must be ", be, ": it is ", slot->ToString());
}

bool TypeChecker::Is(const Slot& slot, const Type& type) { return Must(slot.type() == type, slot, type.ToString()); }

bool TypeChecker::OneOf(const Slot& slot, absl::Span<const DType> allowed, absl::string_view why) {
  return Must(slot->is_number() && Contains(allowed, slot->dtype()), slot,
              absl::StrCat(allowed.size() == 1 ? "" : "one of ", DTypeList(allowed), " ", why));
}

bool TypeChecker::SameType(const Slot& a, const Slot& b) {
  return a.type() == b.type() || Fail("types differ: ", a.Describe(), ", ", b.Describe());
}

bool TypeChecker::SameShape(const Slot& a, const Slot& b) {
  return a->shape() == b->shape() || Fail("shapes differ: ", a.Describe(), ", ", b.Describe());
}

bool TypeChecker::SameElements(const Slot& a, const Slot& b) {
  return (a->dtype() == b->dtype() && a->pointer_depth() == b->pointer_depth()) ||
         Fail("element types differ: ", a.Describe(), ", ", b.Describe());
}

bool TypeChecker::SameExtent(absl::string_view what, int64_t extent_a, const Slot& a, int64_t extent_b, const Slot& b) {
  return extent_a == extent_b || Fail(what, " differs: ", a.Describe(), ", ", b.Describe());
}

bool TypeChecker::Range(int attr, int64_t least, int64_t most) {
  const int64_t value = op_.int_attr(attr);
  return (least <= value && value <= most) ||
         Fail(AttrName(attr), " must be within ", least, "..", most, ": it is ", value);
}

bool TypeChecker::Length(int attr, int64_t count) {
  const auto size = static_cast<int64_t>(op_.ints_attr(attr).size());
  return size == count || Fail(AttrName(attr), " needs ", count, " numbers, has ", size);
}

bool TypeChecker::Axes(int attr, int rank) {
  uint64_t seen = 0;
  static_assert(kMaxRank <= 64);
  for (int64_t axis : op_.ints_attr(attr)) {
    if (axis < 0 || axis >= rank) {
      return Fail(AttrName(attr), " must hold axes within 0..", rank - 1, ": it holds ", axis);
    }
    const uint64_t bit = uint64_t{1} << axis;
    if ((seen & bit) != 0) return Fail(AttrName(attr), " holds axis ", axis, " twice");
    seen |= bit;
  }
  return true;
}

bool TypeChecker::Permutation(int attr, int rank) { return Length(attr, rank) && Axes(attr, rank); }

bool TypeChecker::Count(int64_t count) {
  return num_variadic() == count ||
         Fail("needs ", count, " ", op_.info().operands.back().name, ", has ", num_variadic());
}

bool TypeChecker::Scalars(int from, int count, absl::Span<const DType> allowed, absl::string_view what) {
  bool all = true;
  for (int i = from; i < from + count; ++i) {
    const Slot slot = Variadic(i);
    const bool fits = slot->is_scalar() && slot->is_number() && Contains(allowed, slot->dtype());
    all &= fits || Fail(what, " ", i - from, " must be ", allowed.size() == 1 ? "a scalar " : "a scalar of ",
                        DTypeList(allowed), ": it is ", slot->ToString());
  }
  return all;
}

}  // namespace trivet::vm
