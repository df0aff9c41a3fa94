// Integer arithmetic: addi .. brev. What each op gives where C++ has no answer is in vm/numerics/int_ops.h.
//
// Ops whose result bits don't depend on signedness are compiled once a width. An i1 is a byte 0 or 1 and computes
// modulo 2, as an unsigned integer of one bit: each op is then one of a few functions of bits.
#include "vm/interpreter/elementwise.h"
#include "vm/numerics/int_ops.h"

namespace trivet::vm {
namespace {

// --- i1: functions of one or two bits --------------------------------------------------------------------------------

struct BitAnd {
  static uint8_t Apply(uint8_t a, uint8_t b) { return a & b; }
};
struct BitOr {
  static uint8_t Apply(uint8_t a, uint8_t b) { return a | b; }
};
struct BitXor {
  static uint8_t Apply(uint8_t a, uint8_t b) { return a ^ b; }
};
// a and not b: a shifted by b bits, where 1 is the whole width.
struct BitAndNot {
  static uint8_t Apply(uint8_t a, uint8_t b) { return a & (b ^ 1); }
};
// a or not b: a / b, where anything / 0 is all ones.
struct BitOrNot {
  static uint8_t Apply(uint8_t a, uint8_t b) { return a | (b ^ 1); }
};
// a modulo b: 0 for b = 1, all ones for b = 0.
struct BitNotSecond {
  static uint8_t Apply(uint8_t, uint8_t b) { return b ^ 1; }
};
// The upper half of a product of two bits.
struct BitZero {
  static uint8_t Apply(uint8_t, uint8_t) { return 0; }
};
struct BitSame {
  static uint8_t Apply(uint8_t a) { return a; }
};
struct BitNot {
  static uint8_t Apply(uint8_t a) { return a ^ 1; }
};

// --- wider integers --------------------------------------------------------------------------------------------------

#define TRIVET_BINARY_FN(Name, Function)     \
  struct Name##Fn {                          \
    template <typename T>                    \
    static T Apply(T a, T b) {               \
      return static_cast<T>(Function(a, b)); \
    }                                        \
  };
#define TRIVET_UNARY_FN(Name, Function)   \
  struct Name##Fn {                       \
    template <typename T>                 \
    static T Apply(T a) {                 \
      return static_cast<T>(Function(a)); \
    }                                     \
  };
TRIVET_BINARY_FN(Add, WrapAdd)
TRIVET_BINARY_FN(Sub, WrapSub)
TRIVET_BINARY_FN(Mul, WrapMul)
TRIVET_BINARY_FN(Div, DivTrunc)
TRIVET_BINARY_FN(Rem, RemTrunc)
TRIVET_BINARY_FN(MulHi, MulHigh)
TRIVET_BINARY_FN(And, [](T x, T y) { return x & y; })
TRIVET_BINARY_FN(Or, [](T x, T y) { return x | y; })
TRIVET_BINARY_FN(Xor, [](T x, T y) { return x ^ y; })
TRIVET_BINARY_FN(Min, [](T x, T y) { return x < y ? x : y; })
TRIVET_BINARY_FN(Max, [](T x, T y) { return x > y ? x : y; })
TRIVET_BINARY_FN(Shl, ShiftLeft)
TRIVET_UNARY_FN(Abs, WrapAbs)
TRIVET_UNARY_FN(Clz, CountLeadingZeros)
TRIVET_UNARY_FN(Popc, PopCount)
TRIVET_UNARY_FN(Ffs, FindFirstSet)
TRIVET_UNARY_FN(Brev, BitReverse)
#undef TRIVET_BINARY_FN
#undef TRIVET_UNARY_FN

struct ShrFn {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_signed_v<T>) return ShiftRightArithmetic(a, b);
    return ShiftRightLogical(a, b);
  }
};

enum class Signedness { kMatters, kDoesNotMatter };

// Handlers of Fn for the result's type; BoolFn is what Fn means for i1.
template <typename Fn, typename BoolFn, Signedness kSignedness>
PreparedOp PrepareBinary(PrepareContext& cx) {
  const DType dtype = cx.result_type().dtype();
  const int64_t count = cx.result_count();
  const auto prepare = [count]<typename T>(TypeTag<T>) { return Elementwise<Fn, T, T, T>::Prepare(count); };
  if (dtype == DType::kI1) return Elementwise<BoolFn, uint8_t, uint8_t, uint8_t>::Prepare(count);
  if constexpr (kSignedness == Signedness::kMatters) {
    return VisitInteger(dtype, prepare);
  } else {
    return VisitWidth(InfoOf(dtype).storage_bytes, prepare);
  }
}

template <typename Fn, typename BoolFn, Signedness kSignedness>
PreparedOp PrepareUnary(PrepareContext& cx) {
  const DType dtype = cx.result_type().dtype();
  const int64_t count = cx.result_count();
  const auto prepare = [count]<typename T>(TypeTag<T>) { return Elementwise<Fn, T, T>::Prepare(count); };
  if (dtype == DType::kI1) return Elementwise<BoolFn, uint8_t, uint8_t>::Prepare(count);
  if constexpr (kSignedness == Signedness::kMatters) {
    return VisitInteger(dtype, prepare);
  } else {
    return VisitWidth(InfoOf(dtype).storage_bytes, prepare);
  }
}

}  // namespace

#define TRIVET_PREPARE(Name, Arity, Fn, BoolFn, Signs)           \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) { \
    return Prepare##Arity<Fn, BoolFn, Signedness::Signs>(cx);    \
  }
TRIVET_PREPARE(AddI, Binary, AddFn, BitXor, kDoesNotMatter)
TRIVET_PREPARE(SubI, Binary, SubFn, BitXor, kDoesNotMatter)
TRIVET_PREPARE(MulI, Binary, MulFn, BitAnd, kDoesNotMatter)
TRIVET_PREPARE(DivI, Binary, DivFn, BitOrNot, kMatters)
TRIVET_PREPARE(RemI, Binary, RemFn, BitNotSecond, kMatters)
TRIVET_PREPARE(MulHi, Binary, MulHiFn, BitZero, kMatters)
TRIVET_PREPARE(AndI, Binary, AndFn, BitAnd, kDoesNotMatter)
TRIVET_PREPARE(OrI, Binary, OrFn, BitOr, kDoesNotMatter)
TRIVET_PREPARE(XorI, Binary, XorFn, BitXor, kDoesNotMatter)
TRIVET_PREPARE(Shl, Binary, ShlFn, BitAndNot, kDoesNotMatter)
TRIVET_PREPARE(Shr, Binary, ShrFn, BitAndNot, kMatters)
TRIVET_PREPARE(MinI, Binary, MinFn, BitAnd, kMatters)
TRIVET_PREPARE(MaxI, Binary, MaxFn, BitOr, kMatters)
TRIVET_PREPARE(AbsI, Unary, AbsFn, BitSame, kMatters)
TRIVET_PREPARE(Clz, Unary, ClzFn, BitNot, kDoesNotMatter)
TRIVET_PREPARE(Popc, Unary, PopcFn, BitSame, kDoesNotMatter)
TRIVET_PREPARE(Ffs, Unary, FfsFn, BitSame, kDoesNotMatter)
TRIVET_PREPARE(Brev, Unary, BrevFn, BitSame, kDoesNotMatter)
#undef TRIVET_PREPARE

}  // namespace trivet::vm
