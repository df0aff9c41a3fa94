// tl.extra.cuda: what belongs to the hardware and has a meaning on the interpreter; and descriptors that lie in memory,
// as releases 3.1 and 3.2 had them.
//
// A descriptor in memory takes 12 words of 64 bits, of the 128 bytes that programs set aside for one:
//
//   word 0     1      2 to 6             7 to 11
//   address    rank   extents, rank of   strides in elements, rank of them
//
// experimental_device_tensormap_create2d() writes one; each load and store reads it again.
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"

namespace trivet::frontend {

using vm::DType;
using vm::Type;

namespace {

constexpr int kShapeWord = 2, kStrideWord = 7, kMaxRank = 5;

// A pointer to word `i` of the descriptor that `pointer` points to.
Value WordAt(FunctionLowering& fl, const Value& pointer, int i) {
  const Value words = fl.emitter().Cast(pointer, Type::Pointer(DType::kI64));
  return i == 0 ? words : fl.emitter().Binary("+", words, Value::Of(Int{i}));
}

Value LoadWord(FunctionLowering& fl, const Value& pointer, int i) {
  return fl.CallBuiltin("load", {{WordAt(fl, pointer, i)}, {}, {}});
}

void StoreWord(FunctionLowering& fl, const Value& pointer, int i, const Value& value) {
  fl.CallBuiltin("store", {{WordAt(fl, pointer, i), fl.emitter().Cast(value, DType::kI64)}, {}, {}});
}

bool IsScalarPointer(const Value& value) {
  return value.is_ssa() && value.type().is_pointer() && value.type().is_scalar();
}

}  // namespace

Value DescriptorInMemory(FunctionLowering& fl, const Value& pointer, const Value& block_shape, const Type& element) {
  const size_t rank = block_shape.is_tuple() ? block_shape.items().size() : 1;
  if (!IsScalarPointer(pointer) || rank < 1 || rank > kMaxRank) {
    return fl.Error(
        absl::StrCat("expected a tensor descriptor, or a pointer to one in memory, found ", pointer.Describe()));
  }
  std::vector<Value> shape, strides;
  for (int i = 0; i < static_cast<int>(rank); ++i) {
    shape.push_back(fl.emitter().Cast(LoadWord(fl, pointer, kShapeWord + i), DType::kI32));
    const bool is_last = i + 1 == static_cast<int>(rank);
    strides.push_back(is_last ? Value::Of(Int{1}) : LoadWord(fl, pointer, kStrideWord + i));
  }
  const Value base = fl.emitter().Bitcast(LoadWord(fl, pointer, 0), element.PointerTo());
  return fl.CallBuiltin(
      "make_tensor_descriptor",
      {{base, Value::Tuple(std::move(shape)), Value::Tuple(std::move(strides)), block_shape}, {}, {}});
}

Value BuiltinTensormapCreate(FunctionLowering& fl, BuiltinCall& call) {
  const Value &pointer = call[0], &address = call[1];
  if (!IsScalarPointer(pointer) || !IsScalarPointer(address)) {
    return fl.Error(absl::StrCat(call.name, ": expected pointers to the descriptor and to the data, found ",
                                 pointer.Describe(), " and ", address.Describe()));
  }
  const std::vector<Value> sizes = call[3].is_tuple() ? call[3].items() : std::vector<Value>{call[3]};
  const size_t rank = absl::EndsWith(call.name, "1d") ? 1 : 2;
  if (sizes.size() != rank)
    return fl.Error(
        absl::StrCat(call.name, ": global_size must have ", Count(rank, "entry"), ", found ", sizes.size()));
  StoreWord(fl, pointer, 0, address);
  StoreWord(fl, pointer, 1, Value::Of(Int{static_cast<int64_t>(rank)}));
  for (size_t i = 0; i < rank; ++i) StoreWord(fl, pointer, kShapeWord + static_cast<int>(i), sizes[i]);
  if (rank == 2) StoreWord(fl, pointer, kStrideWord, sizes[1]);
  StoreWord(fl, pointer, kStrideWord + static_cast<int>(rank) - 1, Value::Of(Int{1}));
  return Value::None();
}

Value BuiltinTensormapFence(FunctionLowering&, BuiltinCall&) {
  return Value::None();  // a program sees its own writes
}

Value BuiltinNumWarps(FunctionLowering& fl, BuiltinCall& call) {
  int64_t warps = 4;  // as Triton has it unless the launch says otherwise
  for (const auto& [name, text] : fl.compilation().request.options) {
    if (name == "num_warps") (void)absl::SimpleAtoi(text, &warps);
  }
  return Value::Of(Int{call.name == "cuda.num_threads" ? warps * 32 : warps});
}

Value BuiltinGlobaltimer(FunctionLowering& fl, BuiltinCall&) {
  return fl.Error("tl.extra.cuda.globaltimer: tile bytecode has no clock",
                  "time the launch from outside: triton.testing.do_bench");
}

}  // namespace trivet::frontend
