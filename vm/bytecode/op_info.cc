#include "vm/bytecode/op_info.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "absl/container/flat_hash_map.h"

namespace trivet::vm {
namespace {

// For each op its operand and attribute rows: kLoadOperands, kLoadAttrs.
#define INS(...) \
  { __VA_ARGS__ }
#define IN(n) \
  OperandInfo { #n, OperandKind::kOne }
#define OPT(n) \
  OperandInfo { #n, OperandKind::kOptional }
#define VAR(n) \
  OperandInfo { #n, OperandKind::kVariadic }
#define ATTRS(...) \
  { __VA_ARGS__ }
#define I64(n) \
  AttrInfo { #n, AttrKind::kI64, AttrEnum::kNone }
#define BOOL(n) \
  AttrInfo { #n, AttrKind::kBool, AttrEnum::kNone }
#define STR(n) \
  AttrInfo { #n, AttrKind::kString, AttrEnum::kNone }
#define INTS(n) \
  AttrInfo { #n, AttrKind::kInts, AttrEnum::kNone }
#define FUNC(n) \
  AttrInfo { #n, AttrKind::kFunction, AttrEnum::kNone }
#define BITS(n) \
  AttrInfo { #n, AttrKind::kBits, AttrEnum::kNone }
#define ENUM(t, n) \
  AttrInfo { #n, AttrKind::kEnum, AttrEnum::k##t }
#define OUTS(n) n
#define VAR_OUTS kVariadicResults
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs, regions, Rule, Effects, doc) \
  constexpr std::initializer_list<OperandInfo> k##Name##Operands = ins;                          \
  constexpr std::initializer_list<AttrInfo> k##Name##Attrs = attrs;
#include "vm/bytecode/ops.def"

template <typename T>
constexpr absl::Span<const T> AsSpan(const std::initializer_list<T>& list) {
  return absl::Span<const T>(list.begin(), list.size());
}

const OpInfo kOps[] = {
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs, regions, Rule, Effects, doc) \
  {Op::k##Name,                                                                                  \
   code,                                                                                         \
   #Name,                                                                                        \
   text,                                                                                         \
   since,                                                                                        \
   OpLevel::k##Level,                                                                            \
   AsSpan(k##Name##Operands),                                                                    \
   outs,                                                                                         \
   AsSpan(k##Name##Attrs),                                                                       \
   regions,                                                                                      \
   TypeRule::k##Rule,                                                                            \
   #Rule,                                                                                        \
   OpEffects::k##Effects,                                                                        \
   doc},
#include "vm/bytecode/ops.def"
};

constexpr uint16_t kCodes[] = {
#define TRIVET_OP(code, Name, ...) code,
#include "vm/bytecode/ops.def"
};
constexpr bool CodesAscend() {
  for (size_t i = 1; i < std::size(kCodes); ++i) {
    if (kCodes[i - 1] >= kCodes[i]) return false;
  }
  return true;
}
static_assert(CodesAscend(), "ops.def: codes ascend");

#undef V
#define V(number, Name, text) {number, text},
#define TRIVET_ENUM(Type, values) constexpr EnumValue k##Type##Values[] = {values};
#include "vm/bytecode/attrs.def"
#undef V

}  // namespace

absl::Span<const EnumValue> ValuesOf(AttrEnum type) {
  switch (type) {
    case AttrEnum::kNone:
      return {};
#define TRIVET_ENUM(Type, values) \
  case AttrEnum::k##Type:         \
    return k##Type##Values;
#include "vm/bytecode/attrs.def"
  }
  return {};
}

const char* EnumText(AttrEnum type, int64_t number) {
  for (const EnumValue& value : ValuesOf(type)) {
    if (value.number == number) return value.text;
  }
  return nullptr;
}

const OpInfo& InfoOf(Op op) { return kOps[static_cast<size_t>(op)]; }

absl::Span<const OpInfo> AllOps() { return kOps; }

const OpInfo* FindOpByCode(uint64_t code) {
  const auto* found = std::lower_bound(std::begin(kCodes), std::end(kCodes), code);
  if (found == std::end(kCodes) || *found != code) return nullptr;
  return &kOps[found - std::begin(kCodes)];
}

const OpInfo* FindOpByText(absl::string_view text) {
  static const auto* const by_text = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const OpInfo*>();
    for (const OpInfo& info : kOps) map->emplace(info.text, &info);
    return map;
  }();
  auto it = by_text->find(text);
  return it == by_text->end() ? nullptr : it->second;
}

}  // namespace trivet::vm
