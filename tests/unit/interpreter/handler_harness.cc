#include "tests/unit/interpreter/handler_harness.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "vm/interpreter/exec_context.h"
#include "vm/interpreter/prepare.h"

namespace trivet::vm {
namespace {

class FakePrepareContext : public PrepareContext {
 public:
  FakePrepareContext(const Module& module, const Function& function, const Operation& op, int64_t lanes)
      : module_(module), function_(function), op_(op), lanes_(lanes) {}

  const Module& module() const override { return module_; }
  const Function& function() const override { return function_; }
  const Operation& op() const override { return op_; }
  int64_t lanes() const override { return lanes_; }
  void RequireScratch(size_t) override { ADD_FAILURE() << "elementwise and shape ops need no scratch memory"; }
  bool IsStraightLine(RegionId) const override { return false; }
  absl::StatusOr<RegionCode> PrepareRegion(RegionId, int64_t) override {
    return absl::UnimplementedError("the harness has no regions");
  }
  int SourceParameter(ValueId) const override { return -1; }
  bool IsForeign(ValueId) const override { return true; }

 private:
  const Module& module_;
  const Function& function_;
  const Operation& op_;
  int64_t lanes_;
};

constexpr size_t RoundUp(size_t size) { return (size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

// Bytes between values, which nothing may touch.
constexpr size_t kGuardBytes = kSlotAlignment;
constexpr uint8_t kGuardByte = 0xa5;

struct AlignedDelete {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kSlotAlignment}); }
};

}  // namespace

uint64_t WordAt(const Bytes& bytes, int element_bytes, int64_t i) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + i * element_bytes, static_cast<size_t>(element_bytes));
  return word;
}

void SetWord(Bytes& bytes, int element_bytes, int64_t i, uint64_t word) {
  std::memcpy(bytes.data() + i * element_bytes, &word, static_cast<size_t>(element_bytes));
}

absl::StatusOr<std::vector<Bytes>> RunOp(const OpCall& call, const std::vector<Bytes>& operands) {
  Module module;
  module.functions.emplace_back();
  Function& function = module.functions.back();
  function.body = function.AddRegion();
  Operation op;
  op.opcode = call.op;
  for (const Type& type : call.operand_types) op.operands.push_back(function.AddParam(function.body, type));
  for (const Type& type : call.result_types) op.results.push_back(function.AddValue(type));
  op.attrs.resize(InfoOf(call.op).attrs.size());  // a default Attribute is the integer 0
  std::copy(call.attrs.begin(), call.attrs.end(), op.attrs.begin());
  const OpId id = function.AppendOp(function.body, op);

  FakePrepareContext prepare(module, function, function.op(id), call.lanes);
  absl::StatusOr<PreparedOp> prepared = PrepareOp(prepare);
  if (!prepared.ok()) return prepared.status();

  std::vector<uint32_t> slots;
  size_t frame_bytes = kGuardBytes;
  const auto add_slot = [&](const Type& type) {
    slots.push_back(static_cast<uint32_t>(frame_bytes));
    frame_bytes += RoundUp(static_cast<size_t>(type.value_bytes() * call.lanes)) + kGuardBytes;
  };
  for (const Type& type : call.operand_types) add_slot(type);
  for (const Type& type : call.result_types) add_slot(type);
  if (call.in_place_of >= 0) slots[operands.size()] = slots[static_cast<size_t>(call.in_place_of)];

  const std::unique_ptr<std::byte[], AlignedDelete> frame(new (std::align_val_t{kSlotAlignment})
                                                              std::byte[frame_bytes]);
  std::memset(frame.get(), kGuardByte, frame_bytes);
  for (size_t i = 0; i < operands.size(); ++i) {
    EXPECT_EQ(operands[i].size(), static_cast<size_t>(call.operand_types[i].value_bytes() * call.lanes));
    std::memcpy(frame.get() + slots[i], operands[i].data(), operands[i].size());
  }

  ExecContext cx;
  cx.frame = frame.get();
  cx.program_id = {11, 22, 33};
  cx.grid = {100, 200, 300};
  Instr instr;
  instr.handler = prepared->handler;
  instr.slots = slots.data();
  instr.data = prepared->data.get();
  instr.num_operands = static_cast<uint32_t>(operands.size());
  instr.op = id;
  instr.handler(cx, instr);
  if (cx.trap.kind != TrapKind::kNone) {
    return absl::FailedPreconditionError(absl::StrCat(cx.trap.message, " @", cx.trap.element));
  }

  std::vector<Bytes> results;
  for (size_t i = 0; i < call.result_types.size(); ++i) {
    const auto* data = reinterpret_cast<const uint8_t*>(frame.get()) + slots[operands.size() + i];
    const auto size = static_cast<size_t>(call.result_types[i].value_bytes() * call.lanes);
    results.emplace_back(data, data + size);
    for (size_t k = size; k < RoundUp(size) + kGuardBytes; ++k) {
      EXPECT_EQ(data[k], kGuardByte) << "written past the end of result " << i;
    }
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (static_cast<int>(i) == call.in_place_of) continue;
    EXPECT_EQ(std::memcmp(frame.get() + slots[i], operands[i].data(), operands[i].size()), 0)
        << "operand " << i << " was changed";
  }
  return results;
}

Bytes RunOp1(const OpCall& call, const std::vector<Bytes>& operands) {
  absl::StatusOr<std::vector<Bytes>> results = RunOp(call, operands);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? results->front() : Bytes{};
}

Bytes RunElementwise(Op op, const std::vector<DType>& operand_dtypes, DType result_dtype,
                     const std::vector<Bytes>& operands, std::vector<Attribute> attrs) {
  const int result_bytes = InfoOf(result_dtype).storage_bytes;
  const auto count = static_cast<int64_t>(operands[0].size()) / InfoOf(operand_dtypes[0]).storage_bytes;
  OpCall tile{op, {}, {Type::Tile({count}, result_dtype)}, attrs};
  OpCall scalar{op, {}, {Type::Scalar(result_dtype)}, attrs};
  for (DType dtype : operand_dtypes) {
    tile.operand_types.push_back(Type::Tile({count}, dtype));
    scalar.operand_types.push_back(Type::Scalar(dtype));
  }
  const Bytes expected = RunOp1(tile, operands);

  for (size_t i = 0; i < operands.size(); ++i) {
    if (InfoOf(operand_dtypes[i]).storage_bytes != result_bytes) continue;
    tile.in_place_of = static_cast<int>(i);
    EXPECT_EQ(RunOp1(tile, operands), expected) << InfoOf(op).text << " in place of operand " << i;
  }

  OpCall lanes = scalar;
  lanes.lanes = count;
  EXPECT_EQ(RunOp1(lanes, operands), expected) << InfoOf(op).text << " as lanes";

  // A scalar costs a module; a few of them tell.
  const int64_t stride = count > 64 ? count / 61 : 1;
  for (int64_t i = 0; i < count; i += stride) {
    std::vector<Bytes> elements;
    for (size_t k = 0; k < operands.size(); ++k) {
      const int bytes = InfoOf(operand_dtypes[k]).storage_bytes;
      elements.emplace_back(operands[k].begin() + i * bytes, operands[k].begin() + (i + 1) * bytes);
    }
    const Bytes one = RunOp1(scalar, elements);
    EXPECT_EQ(WordAt(one, result_bytes, 0), WordAt(expected, result_bytes, i)) << InfoOf(op).text << " of a scalar";
  }
  return expected;
}

}  // namespace trivet::vm
