// tl.inline_asm_elementwise: PTX on registers to tile ops.
//
// Each register is a tile with one element for each group of `pack` elements. Elements narrower than 32 bits share
// registers, lowest first: four i8 or two f16 are one .b32 register, as Triton lays them out.
#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frontend/builtins.h"
#include "frontend/ptx.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

struct PtxType {
  const char* name;
  DType dtype;
};
constexpr PtxType kTypes[] = {{"b8", DType::kU8},   {"u8", DType::kU8},     {"s8", DType::kI8},   {"b16", DType::kU16},
                              {"u16", DType::kU16}, {"s16", DType::kI16},   {"b32", DType::kU32}, {"u32", DType::kU32},
                              {"s32", DType::kI32}, {"b64", DType::kU64},   {"u64", DType::kU64}, {"s64", DType::kI64},
                              {"f16", DType::kF16}, {"bf16", DType::kBF16}, {"f32", DType::kF32}, {"f64", DType::kF64},
                              {"pred", DType::kI1}};
// Two narrow floats in one register.
constexpr PtxType kPairTypes[] = {
    {"f16x2", DType::kF16}, {"bf16x2", DType::kBF16}, {"e4m3x2", DType::kF8E4M3}, {"e5m2x2", DType::kF8E5M2}};

DType Find(absl::Span<const PtxType> types, absl::string_view name) {
  for (const PtxType& t : types) {
    if (name == t.name) return t.dtype;
  }
  return DType::kNone;
}

DType UnsignedOfBits(int bits) {
  return bits == 8 ? DType::kU8 : bits == 16 ? DType::kU16 : bits == 32 ? DType::kU32 : DType::kU64;
}

class PtxLowering {
 public:
  PtxLowering(FunctionLowering& fl, std::vector<Value> arguments, Type::Shape shape)
      : fl_(fl), e_(fl.emitter()), arguments_(std::move(arguments)), shape_(std::move(shape)) {}

  // False after an error.
  bool Run(const PtxInstruction& instruction) {
    at_ = &instruction;
    if (instruction.operands.empty()) return Unsupported();
    types_.clear();
    for (const std::string& m : instruction.modifiers) {
      if (DType t = Find(kTypes, m); t != DType::kNone) types_.push_back(t);
    }
    if (instruction.root == "mov" && HasVector()) return MoveVector();
    if (instruction.root == "setp") return Compare();
    Value result = Compute();
    return !result.is_error() && Write(instruction.operands[0], result);
  }

  const std::vector<Value>& arguments() const { return arguments_; }

 private:
  bool Unsupported() {
    fl_.Error(absl::StrCat("tl.inline_asm_elementwise: the PTX instruction '", at_->text, "' is not supported"),
              "write the operation with tl functions; libdevice has most instructions");
    return false;
  }
  Value UnsupportedValue() {
    Unsupported();
    return Value();
  }
  bool Has(absl::string_view modifier) const {
    return std::find(at_->modifiers.begin(), at_->modifiers.end(), modifier) != at_->modifiers.end();
  }
  bool HasVector() const {
    return std::any_of(at_->operands.begin(), at_->operands.end(),
                       [](const PtxOperand& o) { return o.kind == PtxOperand::Kind::kVector; });
  }
  vm::Rounding Rounding() const {
    if (Has("rz") || Has("rzi")) return vm::Rounding::kTowardZero;
    if (Has("rm")) return vm::Rounding::kDown;
    if (Has("rp")) return vm::Rounding::kUp;
    return vm::Rounding::kNearestEven;
  }

  // The operand's bits as a tile of `dtype`.
  Value Read(size_t index, DType dtype) {
    if (index >= at_->operands.size()) return UnsupportedValue();
    return ReadOperand(at_->operands[index], dtype);
  }
  Value ReadOperand(const PtxOperand& operand, DType dtype) {
    const Type type = Type::Tile(shape_, dtype);
    if (operand.kind == PtxOperand::Kind::kNumber) {
      if (operand.is_float || vm::IsFloat(dtype)) {
        return e_.MakeConstant(
            type,
            Constant(operand.is_float ? operand.number : static_cast<double>(static_cast<int64_t>(operand.bits))));
      }
      return e_.MakeConstant(type, Constant(Int{static_cast<int64_t>(operand.bits)}));
    }
    Value value;
    if (operand.kind == PtxOperand::Kind::kArgument) {
      if (operand.argument >= static_cast<int>(arguments_.size())) return UnsupportedValue();
      value = arguments_[static_cast<size_t>(operand.argument)];
    } else if (auto it = registers_.find(operand.name); it != registers_.end()) {
      value = it->second;
    }
    if (value.is_error() && operand.name.substr(0, 1) == "%") {
      return fl_.Error(
          absl::StrCat("tl.inline_asm_elementwise: the special register '", operand.name, "' is not supported"));
    }
    if (value.is_error()) {
      return fl_.Error(
          absl::StrCat("tl.inline_asm_elementwise: a register is read before it is written in '", at_->text, "'"));
    }
    const int have = vm::InfoOf(value.type().dtype()).bits, want = vm::InfoOf(dtype).bits;
    if (have != want && (have == 1 || want == 1)) return UnsupportedValue();
    // A wider or narrower register gives or takes its low bits.
    if (have != want) value = e_.Cast(e_.Bitcast(value, Type::Scalar(UnsignedOfBits(have))), UnsignedOfBits(want));
    return e_.Bitcast(value, Type::Scalar(dtype));
  }

  bool Write(const PtxOperand& operand, Value value) {
    Value* slot = nullptr;
    if (operand.kind == PtxOperand::Kind::kArgument && operand.argument < static_cast<int>(arguments_.size())) {
      slot = &arguments_[static_cast<size_t>(operand.argument)];
    } else if (operand.kind == PtxOperand::Kind::kRegister) {
      if (operand.name == "_") return true;
      slot = &registers_[operand.name];
    } else {
      return Unsupported();
    }
    if (!at_->predicate.empty()) {
      auto p = registers_.find(at_->predicate);
      if (p == registers_.end()) return Unsupported();
      const Value condition = at_->predicate_negated ? e_.Unary("not", p->second) : p->second;
      // A register that was not written before is only read under the same condition.
      const Value old = slot->is_error() ? e_.MakeConstant(value.type(), Constant(Int{0}))
                                         : e_.Bitcast(*slot, value.type().AsScalar());
      value = e_.Create1(Op::kSelect, {condition.id(), value.id(), old.id()}, value.type());
    }
    *slot = value;
    return true;
  }

  // mov.b32 d, {lo, hi} and mov.b32 {lo, hi}, s.
  bool MoveVector() {
    if (types_.size() != 1 || at_->operands.size() != 2) return Unsupported();
    const int bits = vm::InfoOf(types_[0]).bits;
    const bool unpack = at_->operands[0].kind == PtxOperand::Kind::kVector;
    const std::vector<PtxOperand>& parts = at_->operands[unpack ? 0 : 1].items;
    const int n = static_cast<int>(parts.size());
    if (n < 2 || bits / n < 8) return Unsupported();
    const DType whole = UnsignedOfBits(bits), part = UnsignedOfBits(bits / n);
    if (unpack) {
      const Value source = Read(1, whole);
      for (int i = 0; i < n; ++i) {
        if (source.is_error() ||
            !Write(parts[static_cast<size_t>(i)], e_.Cast(Shift(Op::kShr, source, i * (bits / n)), part)))
          return false;
      }
      return true;
    }
    Value result;
    for (int i = 0; i < n; ++i) {
      Value piece = ReadOperand(parts[static_cast<size_t>(i)], part);
      if (piece.is_error()) return false;
      piece = Shift(Op::kShl, e_.Cast(piece, whole), i * (bits / n));
      result = i == 0 ? piece : e_.Elementwise(Op::kOrI, {result, piece});
    }
    return Write(at_->operands[0], result);
  }

  Value Shift(Op op, const Value& value, int bits) {
    if (bits == 0) return value;
    return e_.Elementwise(op, {value, e_.MakeConstant(value.type(), Constant(Int{bits}))});
  }

  bool Compare() {
    if (types_.size() != 1 || at_->operands.size() != 3 || at_->modifiers.empty()) return Unsupported();
    const std::string& name = at_->modifiers[0];
    static const std::pair<const char*, const char*> kNames[] = {{"eq", "=="}, {"ne", "!="}, {"neu", "!="}, {"lt", "<"},
                                                                 {"le", "<="}, {"gt", ">"},  {"ge", ">="},  {"lo", "<"},
                                                                 {"ls", "<="}, {"hi", ">"},  {"hs", ">="}};
    for (const auto& [ptx, op] : kNames) {
      if (name != ptx) continue;
      const Value a = Read(1, types_[0]), b = Read(2, types_[0]);
      return !a.is_error() && !b.is_error() && Write(at_->operands[0], e_.Compare(op, a, b));
    }
    return Unsupported();
  }

  // cvt.rn.f16x2.f32 d, a, b: two conversions into one register, a in the upper half.
  Value ConvertPair(DType narrow) {
    if (types_.empty() || at_->operands.size() != 3) return UnsupportedValue();
    const DType source = types_.back();
    const int bits = vm::InfoOf(narrow).bits;
    const DType part = UnsignedOfBits(bits), whole = UnsignedOfBits(2 * bits);
    Value high = e_.Cast(Read(1, source), Type::Scalar(narrow), Rounding()),
          low = e_.Cast(Read(2, source), Type::Scalar(narrow), Rounding());
    if (high.is_error() || low.is_error()) return Value();
    high = Shift(Op::kShl, e_.Cast(e_.Bitcast(high, Type::Scalar(part)), whole), bits);
    low = e_.Cast(e_.Bitcast(low, Type::Scalar(part)), whole);
    return e_.Elementwise(Op::kOrI, {high, low});
  }

  Value Convert() {
    for (const std::string& m : at_->modifiers) {
      if (DType narrow = Find(kPairTypes, m); narrow != DType::kNone) {
        return m == at_->modifiers.back() ? UnsupportedValue() : ConvertPair(narrow);
      }
    }
    if (types_.size() != 2) return UnsupportedValue();
    Value x = Read(1, types_[1]);
    if (x.is_error()) return x;
    if (vm::IsFloat(types_[1]) && (vm::IsInteger(types_[0]) || types_[0] == types_[1])) {
      const Op round = Has("rni")   ? Op::kRint
                       : Has("rmi") ? Op::kFloor
                       : Has("rpi") ? Op::kCeil
                       : Has("rzi") ? Op::kTrunc
                                    : Op::kCopySign;
      if (round != Op::kCopySign) x = e_.Elementwise(round, {x});
      return e_.Cast(x, types_[0]);
    }
    return e_.Cast(x, Type::Scalar(types_[0]), Rounding());
  }

  // Any function of three bits, given by its truth table.
  Value LogicTable() {
    if (at_->operands.size() != 5 || at_->operands[4].kind != PtxOperand::Kind::kNumber) return UnsupportedValue();
    Value in[3], negated[3];
    for (size_t i = 0; i < 3; ++i) {
      in[i] = Read(i + 1, DType::kU32);
      if (in[i].is_error()) return Value();
      negated[i] = e_.Unary("~", in[i]);
    }
    Value result = e_.MakeConstant(Type::Tile(shape_, DType::kU32), Constant(Int{0}));
    for (uint64_t row = 0; row < 8; ++row) {
      if ((at_->operands[4].bits >> row & 1) == 0) continue;
      Value term = (row & 4) != 0 ? in[0] : negated[0];
      term = e_.Elementwise(Op::kAndI, {term, (row & 2) != 0 ? in[1] : negated[1]});
      term = e_.Elementwise(Op::kAndI, {term, (row & 1) != 0 ? in[2] : negated[2]});
      result = e_.Elementwise(Op::kOrI, {result, term});
    }
    return result;
  }

  // prmt.b32 with a constant selector: each result byte is one of the eight of {b, a}, perhaps its sign repeated.
  Value PermuteBytes() {
    if (at_->operands.size() != 4 || at_->operands[3].kind != PtxOperand::Kind::kNumber || at_->modifiers.size() != 1)
      return UnsupportedValue();
    const Value sources[] = {Read(1, DType::kU32), Read(2, DType::kU32)};
    if (sources[0].is_error() || sources[1].is_error()) return Value();
    Value result = e_.MakeConstant(sources[0].type(), Constant(Int{0}));
    for (int i = 0; i < 4; ++i) {
      const int selector = static_cast<int>(at_->operands[3].bits >> (4 * i) & 0xf);
      Value byte = e_.Cast(Shift(Op::kShr, sources[(selector & 4) != 0 ? 1 : 0], 8 * (selector & 3)), DType::kU8);
      if ((selector & 8) != 0) {
        byte =
            e_.Bitcast(e_.Elementwise(Op::kShr, {e_.Bitcast(byte, Type::Scalar(DType::kI8)),
                                                 e_.MakeConstant(byte.type().WithDType(DType::kI8), Constant(Int{7}))}),
                       Type::Scalar(DType::kU8));
      }
      result = e_.Elementwise(Op::kOrI, {result, Shift(Op::kShl, e_.Cast(byte, DType::kU32), 8 * i)});
    }
    return result;
  }

  // shf.l: the upper half of {b, a} shifted left; shf.r: the lower half of it shifted right.
  Value FunnelShift() {
    const Value low = Read(1, DType::kU32), high = Read(2, DType::kU32), count = Read(3, DType::kU32);
    if (low.is_error() || high.is_error() || count.is_error()) return Value();
    const auto constant = [&](const Value& like, Int n) { return e_.MakeConstant(like.type(), Constant(n)); };
    const Value bits = Has("wrap") ? e_.Elementwise(Op::kAndI, {count, constant(count, 31)})
                                   : e_.Elementwise(Op::kMinI, {count, constant(count, 32)});
    const Value both =
        e_.Elementwise(Op::kOrI, {Shift(Op::kShl, e_.Cast(high, DType::kU64), 32), e_.Cast(low, DType::kU64)});
    const Value shifted = e_.Elementwise(Has("l") ? Op::kShl : Op::kShr, {both, e_.Cast(bits, DType::kU64)});
    return e_.Cast(Has("l") ? Shift(Op::kShr, shifted, 32) : shifted, DType::kU32);
  }

  Value Compute() {
    const std::string& root = at_->root;
    if (root == "cvt") return Convert();
    if (root == "lop3") return LogicTable();
    if (root == "prmt") return PermuteBytes();
    if (root == "shf") return FunnelShift();
    if (types_.empty()) return UnsupportedValue();
    const DType type = types_[0];
    const bool is_float = vm::IsFloat(type);
    const size_t inputs = at_->operands.size() - 1;
    static const std::pair<const char*, Op> kUnaryFloat[] = {
        {"ex2", Op::kExp2}, {"lg2", Op::kLog2},    {"tanh", Op::kTanh}, {"sin", Op::kSin},
        {"cos", Op::kCos},  {"rsqrt", Op::kRsqrt}, {"neg", Op::kNegF},  {"abs", Op::kAbsF}};
    static const std::pair<const char*, Op> kUnaryInt[] = {
        {"popc", Op::kPopc}, {"clz", Op::kClz}, {"brev", Op::kBrev}, {"abs", Op::kAbsI}};
    static const std::pair<const char*, Op> kBinaryInt[] = {{"add", Op::kAddI}, {"sub", Op::kSubI}, {"div", Op::kDivI},
                                                            {"rem", Op::kRemI}, {"min", Op::kMinI}, {"max", Op::kMaxI},
                                                            {"and", Op::kAndI}, {"or", Op::kOrI},   {"xor", Op::kXorI}};
    static const std::pair<const char*, Op> kBinaryFloat[] = {
        {"add", Op::kAddF}, {"sub", Op::kSubF}, {"mul", Op::kMulF}, {"div", Op::kDivF}};
    if (root == "mov" && inputs == 1) return Read(1, type);
    if (root == "selp" && inputs == 3) {
      const Value a = Read(1, type), b = Read(2, type), p = Read(3, DType::kI1);
      if (a.is_error() || b.is_error() || p.is_error()) return Value();
      return e_.Create1(Op::kSelect, {p.id(), a.id(), b.id()}, a.type());
    }
    std::vector<Value> in;
    for (size_t i = 1; i <= inputs; ++i) {
      const bool is_count = i == 2 && (root == "shl" || root == "shr");
      in.push_back(Read(i, is_count ? DType::kU32 : type));
      if (in.back().is_error()) return Value();
    }
    const auto attrs = [&] { return absl::InlinedVector<vm::Attribute, 1>{static_cast<int64_t>(Rounding())}; };
    if (is_float && inputs == 1) {
      for (const auto& [name, op] : kUnaryFloat) {
        if (root == name) return e_.Elementwise(op, in);
      }
      if (root == "sqrt") return e_.Elementwise(Op::kSqrt, in, attrs());
      if (root == "rcp")
        return e_.Elementwise(Op::kDivF, {e_.MakeConstant(in[0].type(), Constant(1.0)), in[0]}, attrs());
    }
    if (is_float && inputs == 2) {
      for (const auto& [name, op] : kBinaryFloat) {
        if (root == name) return e_.Elementwise(op, in, attrs());
      }
      if (root == "min" || root == "max") {
        const vm::NanRule nan = Has("NaN") ? vm::NanRule::kPropagate : vm::NanRule::kIgnore;
        return e_.Elementwise(root == "min" ? Op::kMinF : Op::kMaxF, in, {static_cast<int64_t>(nan)});
      }
    }
    if (is_float && inputs == 3 && (root == "fma" || root == "mad")) return e_.Elementwise(Op::kFma, in, attrs());
    if (!is_float && inputs == 1) {
      for (const auto& [name, op] : kUnaryInt) {
        if (root == name) return e_.Elementwise(op, in);
      }
      if (root == "neg") return e_.Unary("-", in[0]);
      if (root == "not") return type == DType::kI1 ? e_.Unary("not", in[0]) : e_.Unary("~", in[0]);
    }
    if (!is_float && inputs == 2) {
      for (const auto& [name, op] : kBinaryInt) {
        if (root == name) return e_.Elementwise(op, in);
      }
      if (root == "shl" || root == "shr") {
        // Counts of the width and more shift everything out, as the ops do; wider types take the 32-bit count.
        return e_.Elementwise(root == "shl" ? Op::kShl : Op::kShr, {in[0], e_.Cast(in[1], type)});
      }
      if (root == "mul" && Has("hi")) return e_.Elementwise(Op::kMulHi, in);
      if (root == "mul" && Has("lo")) return e_.Elementwise(Op::kMulI, in);
      if (root == "mul" && Has("wide") && vm::InfoOf(type).bits == 32) {
        const DType wide = vm::IsSignedInteger(type) ? DType::kI64 : DType::kU64;
        return e_.Elementwise(Op::kMulI, {e_.Cast(in[0], wide), e_.Cast(in[1], wide)});
      }
    }
    if (!is_float && inputs == 3 && root == "mad" && Has("lo")) {
      return e_.Elementwise(Op::kAddI, {e_.Elementwise(Op::kMulI, {in[0], in[1]}), in[2]});
    }
    return UnsupportedValue();
  }

  FunctionLowering& fl_;
  Emitter& e_;
  std::vector<Value> arguments_;  // outputs, then inputs: $0, $1, ...
  Type::Shape shape_;
  std::map<std::string, Value> registers_;
  const PtxInstruction* at_ = nullptr;
  std::vector<DType> types_;
};

// Element j of each group of `pack` consecutive elements: a tile [groups].
Value PickOfGroup(Emitter& e, const Value& flat, int64_t pack, int64_t j) {
  if (pack == 1) return flat;
  const int64_t groups = flat.type().num_elements() / pack;
  const Value rows = e.Create1(Op::kReshape, {flat.id()}, flat.type().WithShape({groups, pack}), {int64_t{0}});
  const Value column = e.Create1(Op::kSlice, {rows.id()}, flat.type().WithShape({groups, 1}),
                                 {std::vector<int64_t>{0, j}, std::vector<int64_t>{1, 1}});
  return e.Create1(Op::kReshape, {column.id()}, flat.type().WithShape({groups}), {int64_t{0}});
}

// The inverse of PickOfGroup for all j.
Value JoinGroups(Emitter& e, const std::vector<Value>& columns) {
  if (columns.size() == 1) return columns[0];
  const int64_t groups = columns[0].type().num_elements();
  Value rows = e.ExpandDims(columns[0], 1);
  for (size_t j = 1; j < columns.size(); ++j) {
    const Value next = e.ExpandDims(columns[j], 1);
    rows = e.Create1(Op::kCat, {rows.id(), next.id()}, next.type().WithShape({groups, static_cast<int64_t>(j) + 1}),
                     {int64_t{1}, int64_t{0}});
  }
  return e.Create1(Op::kReshape, {rows.id()}, rows.type().WithShape({groups * static_cast<int64_t>(columns.size())}),
                   {int64_t{0}});
}

// How many elements of this type share a register when `pack` elements are processed together.
int64_t ElementsPerRegister(DType dtype, int64_t pack) {
  return std::min<int64_t>(pack, std::max(1, 32 / std::max(8, vm::InfoOf(dtype).bits)));
}

}  // namespace

Value BuiltinInlineAsm(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  std::optional<std::string> text = e.RequireString(call[0], "inline_asm_elementwise: asm");
  std::optional<std::string> constraints = e.RequireString(call[1], "inline_asm_elementwise: constraints");
  std::optional<int64_t> pack = e.RequireInt(call[5], "inline_asm_elementwise: pack");
  if (!text || !constraints || !pack) return Value();
  absl::StatusOr<std::vector<PtxInstruction>> program = ParsePtx(*text);
  if (!program.ok()) {
    return fl.Error(absl::StrCat("tl.inline_asm_elementwise: PTX that is not supported: ", program.status().message()),
                    "write the operation with tl functions; libdevice has most instructions");
  }
  std::vector<DType> outputs;
  for (const Value& v : call[3].is_tuple() ? call[3].items() : std::vector<Value>{call[3]}) {
    std::optional<Type> type = e.RequireType(v, "inline_asm_elementwise: dtype");
    if (!type) return Value();
    outputs.push_back(type->dtype());
  }
  std::vector<Value> inputs = call[2].is_tuple() ? call[2].items() : std::vector<Value>{call[2]};
  if (inputs.empty()) {
    return fl.Error("tl.inline_asm_elementwise: PTX without inputs reads the machine's state, which is not supported");
  }
  std::vector<Value*> pointers;
  for (Value& v : inputs) {
    v = e.ToSsa(v);
    pointers.push_back(&v);
  }
  if (!e.BroadcastTogether(pointers, "inline_asm_elementwise")) return Value();
  const Type::Shape shape = inputs[0].type().shape();
  const int64_t elements = inputs[0].type().num_elements();
  if (*pack < 1 || elements % *pack != 0) {
    return fl.Error(
        absl::StrCat("tl.inline_asm_elementwise: pack must divide the ", elements, " elements, found ", *pack));
  }
  const int64_t groups = elements / *pack;

  // Registers: first those of the outputs, unwritten; then those of the inputs.
  std::vector<Value> registers;
  for (DType dtype : outputs)
    registers.resize(registers.size() + static_cast<size_t>(*pack / ElementsPerRegister(dtype, *pack)));
  const size_t num_outputs = registers.size();
  for (const Value& input : inputs) {
    if (!input.type().is_number())
      return fl.Error(absl::StrCat("tl.inline_asm_elementwise: expected numbers, found ", input.type().ToString()));
    Value flat = shape.empty()
                     ? e.Create1(Op::kSplat, {input.id()}, input.type().WithShape({1}))
                     : e.Create1(Op::kReshape, {input.id()}, input.type().WithShape({elements}), {int64_t{0}});
    const DType dtype = input.type().dtype();
    const int bits = std::max(8, vm::InfoOf(dtype).bits);
    if (vm::IsBool(dtype)) flat = e.Cast(flat, DType::kU8);
    const int64_t shared = ElementsPerRegister(dtype, *pack);
    for (int64_t first = 0; first < *pack; first += shared) {
      if (shared == 1) {
        registers.push_back(PickOfGroup(e, flat, *pack, first));
        continue;
      }
      Value packed;
      for (int64_t i = 0; i < shared; ++i) {
        Value one =
            e.Cast(e.Bitcast(PickOfGroup(e, flat, *pack, first + i), Type::Scalar(UnsignedOfBits(bits))), DType::kU32);
        if (i > 0) one = e.Elementwise(Op::kShl, {one, e.MakeConstant(one.type(), Constant(Int{i * bits}))});
        packed = i == 0 ? one : e.Elementwise(Op::kOrI, {packed, one});
      }
      registers.push_back(packed);
    }
  }
  size_t declared = 0;
  for (absl::string_view one : absl::StrSplit(*constraints, ','))
    declared += absl::StripAsciiWhitespace(one).empty() ? 0 : 1;
  if (declared != registers.size()) {
    return fl.Error(absl::StrCat("tl.inline_asm_elementwise: ", declared, " constraints for ", num_outputs,
                                 " output and ", registers.size() - num_outputs, " input registers"));
  }

  PtxLowering lowering(fl, std::move(registers), {groups});
  for (const PtxInstruction& instruction : *program) {
    if (!lowering.Run(instruction)) return Value();
  }
  std::vector<Value> results;
  size_t at = 0;
  for (DType dtype : outputs) {
    const int64_t shared = ElementsPerRegister(dtype, *pack);
    const int bits = vm::InfoOf(dtype).bits;
    std::vector<Value> columns;
    for (int64_t first = 0; first < *pack; first += shared, ++at) {
      Value reg = lowering.arguments()[at];
      if (reg.is_error()) return fl.Error(absl::StrCat("tl.inline_asm_elementwise: the PTX never writes $", at));
      const int have = vm::InfoOf(reg.type().dtype()).bits;
      if (have > 1) reg = e.Bitcast(reg, Type::Scalar(UnsignedOfBits(have)));
      for (int64_t i = 0; i < shared; ++i) {
        Value one = reg;
        if (i > 0) one = e.Elementwise(Op::kShr, {one, e.MakeConstant(one.type(), Constant(Int{i * bits}))});
        if (vm::IsBool(dtype)) {
          columns.push_back(e.Cast(one, dtype));
        } else {
          columns.push_back(e.Bitcast(e.Cast(one, UnsignedOfBits(bits)), Type::Scalar(dtype)));
        }
      }
    }
    Value flat = JoinGroups(e, columns);
    if (flat.is_error()) return flat;
    if (shape.empty()) {
      const Value zero = e.MakeConstant(Type::Scalar(DType::kI32), Constant(Int{0}));
      results.push_back(e.Create1(Op::kExtract, {flat.id(), zero.id()}, flat.type().AsScalar()));
    } else if (flat.type().shape() != shape) {
      results.push_back(e.Create1(Op::kReshape, {flat.id()}, flat.type().WithShape(shape), {int64_t{0}}));
    } else {
      results.push_back(flat);
    }
  }
  return call[3].is_tuple() ? Value::Tuple(std::move(results)) : results[0];
}

}  // namespace trivet::frontend
