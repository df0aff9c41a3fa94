// What the op table says, as data: enums, OpInfo, and for each op a struct that names its operands and attributes.
//
//   OpInfo info = InfoOf(Op::kLoad);            the row
//   LoadOp::In::mask, LoadOp::At::cache         positions within the row
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vm/numerics/float_formats.h"

namespace trivet::vm {

// Enumerations of attrs.def: `enum class CmpPredicate : int64_t { kEq = 0, ... }`.
#define V(number, Name, text) k##Name = number,
#define TRIVET_ENUM(Type, values) enum class Type : int64_t { values };
#define TRIVET_NUMERICS_ENUM(Type, values) \
  namespace frozen {                       \
  enum class Type : int64_t { values };    \
  }
#include "vm/bytecode/attrs.def"
#undef V

// `Rounding` is the type that vm/numerics computes with; the table freezes the numbers that files use.
static_assert(static_cast<int64_t>(Rounding::kNearestEven) == static_cast<int64_t>(frozen::Rounding::kNearestEven) &&
              static_cast<int64_t>(Rounding::kTowardZero) == static_cast<int64_t>(frozen::Rounding::kTowardZero) &&
              static_cast<int64_t>(Rounding::kUp) == static_cast<int64_t>(frozen::Rounding::kUp) &&
              static_cast<int64_t>(Rounding::kDown) == static_cast<int64_t>(frozen::Rounding::kDown));

// Which enumeration of attrs.def an attribute has.
enum class AttrEnum : uint8_t {
  kNone,
#define TRIVET_ENUM(Type, values) k##Type,
#include "vm/bytecode/attrs.def"
};

struct EnumValue {
  int64_t number;
  const char* text;
};
// The values of an enumeration in the order of attrs.def; empty for kNone.
absl::Span<const EnumValue> ValuesOf(AttrEnum type);
// The text of `number` ("eq"), or nullptr if there is none.
const char* EnumText(AttrEnum type, int64_t number);

// Ops, in the order of the table. The codes in files are OpInfo::code.
enum class Op : uint16_t {
#define TRIVET_OP(code, Name, ...) k##Name,
#include "vm/bytecode/ops.def"
};
inline constexpr int kNumOps = 0
#define TRIVET_OP(code, Name, ...) +1
#include "vm/bytecode/ops.def"
    ;

enum class OpLevel : uint8_t { kPortable, kLowered };
enum class OpEffects : uint8_t { kPure, kReads, kWrites, kReadsWrites, kControl, kOutput };
enum class OperandKind : uint8_t { kOne, kOptional, kVariadic };
enum class AttrKind : uint8_t { kI64, kBool, kString, kInts, kFunction, kEnum, kBits };

// Type rules, one Check<Rule> each in type_rules.cc.
enum class TypeRule : uint8_t {
  kConstant,
  kArange,
  kScalarI32,
  kSameInteger,
  kSameFloat,
  kIntFloat,
  kFloatInt,
  kFloatToI32,
  kFloatToBool,
  kCompareInteger,
  kCompareFloat,
  kSelect,
  kCast,
  kBitcast,
  kPtrToInt,
  kIntToPtr,
  kSplat,
  kBroadcast,
  kExpandDims,
  kReshape,
  kTrans,
  kJoin,
  kSplit,
  kCat,
  kSameTypeAxis,
  kGather,
  kSlice,
  kInsertSlice,
  kExtract,
  kReduce,
  kScan,
  kMapElementwise,
  kHistogram,
  kTopK,
  kDot,
  kDotScaled,
  kAddPtr,
  kLoad,
  kStore,
  kAtomicRmw,
  kAtomicCas,
  kMakeBlockPtr,
  kAdvance,
  kBlockLoad,
  kBlockStore,
  kMakeDesc,
  kDescLoad,
  kDescStore,
  kDescGather,
  kDescScatter,
  kDescReduce,
  kNoTypes,
  kFor,
  kWhile,
  kIf,
  kTerminator,
  kCall,
  kAnyValues,
  kAssert,
  kHint,
  kSameType,
};

struct OperandInfo {
  const char* name;
  OperandKind kind;
};

struct AttrInfo {
  const char* name;
  AttrKind kind;
  AttrEnum enum_type;
};

inline constexpr int kVariadicResults = -1;

struct OpInfo {
  Op op;
  uint16_t code;
  const char* name;  // "AddF"
  const char* text;  // "addf"
  uint8_t since;     // minor version of the format
  OpLevel level;
  absl::Span<const OperandInfo> operands;
  int num_results;  // or kVariadicResults
  absl::Span<const AttrInfo> attrs;
  int num_regions;
  TypeRule rule;
  const char* rule_name;
  OpEffects effects;
  const char* doc;

  bool is_terminator() const { return rule == TypeRule::kTerminator; }
  // True if the last operand is variadic.
  bool has_variadic() const { return !operands.empty() && operands.back().kind == OperandKind::kVariadic; }
  // Operands before the variadic one.
  int num_fixed_operands() const { return static_cast<int>(operands.size()) - (has_variadic() ? 1 : 0); }
};

const OpInfo& InfoOf(Op op);
// The whole table in order of codes.
absl::Span<const OpInfo> AllOps();
// The row with this code or text; nullptr if there is none.
const OpInfo* FindOpByCode(uint64_t code);
const OpInfo* FindOpByText(absl::string_view text);

// struct LoadOp { static constexpr Op kOp; enum In { ptr, mask, other }; enum At { cache, ... }; }
#define INS(...) __VA_ARGS__
#define ATTRS(...) __VA_ARGS__
#define IN(n) n
#define OPT(n) n
#define VAR(n) n
#define I64(n) n
#define BOOL(n) n
#define STR(n) n
#define INTS(n) n
#define FUNC(n) n
#define BITS(n) n
#define ENUM(t, n) n
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs_, regions, Rule, Effects, doc) \
  struct Name##Op {                                                                               \
    static constexpr Op kOp = Op::k##Name;                                                        \
    struct In {                                                                                   \
      enum Index : int { ins };                                                                   \
    };                                                                                            \
    struct At {                                                                                   \
      enum Index : int { attrs_ };                                                                \
    };                                                                                            \
  };
#include "vm/bytecode/ops.def"
#undef INS
#undef ATTRS
#undef IN
#undef OPT
#undef VAR
#undef I64
#undef BOOL
#undef STR
#undef INTS
#undef FUNC
#undef BITS
#undef ENUM

}  // namespace trivet::vm
