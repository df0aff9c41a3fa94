// reduce: first across the registers of a thread, then across the lanes of a warp by butterfly shuffles, then across
// warps through shared memory. Afterwards every thread that held a part of a line has the line's result.
//
// The region need not be commutative: at each step the operand with the lower index comes first. Which neighbours are
// combined first depends on the layout, which docs/semantics.md permits.
#include <bit>

#include "jit/lowering/lowering_context.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::Op;
using vm::Operation;

// True if the region is one op that gives the same result for (a, b) and (b, a), so that nobody needs to sort operands.
bool IsCommutative(const vm::Function& fn, RegionId region) {
  const vm::Region& r = fn.region(region);
  if (r.ops.size() != 2) return false;
  switch (fn.op(r.ops[0]).opcode) {
    case Op::kAddF:
    case Op::kMulF:
    case Op::kMinF:
    case Op::kMaxF:
    case Op::kAddI:
    case Op::kMulI:
    case Op::kMinI:
    case Op::kMaxI:
    case Op::kAndI:
    case Op::kOrI:
    case Op::kXorI:
      return true;
    default:
      return false;
  }
}

class Reducer {
 public:
  Reducer(LoweringContext& cx, const Operation& op)
      : cx_(cx),
        op_(op),
        layout_(cx.layout(op.operand(0))),
        axis_(static_cast<int>(op.int_attr(vm::ReduceOp::At::axis))),
        axis_mask_(layout_.axis_bits(axis_).mask()),
        is_commutative_(IsCommutative(cx.function(), op.regions[0])) {
    for (ValueId v : op.operands) tiles_.push_back(cx.Get(v));
  }

  absl::Status Run() {
    TRIVET_RETURN_IF_ERROR(ReduceRegisters());
    TRIVET_RETURN_IF_ERROR(ReduceLanes());
    TRIVET_RETURN_IF_ERROR(ReduceWarps());
    for (size_t i = 0; i < tiles_.size(); ++i) cx_.Set(op_.result(static_cast<int>(i)), tiles_[i]);
    return absl::OkStatus();
  }

 private:
  // a and b: one value of each input.
  absl::StatusOr<Registers> Combine(const Registers& a, const Registers& b) {
    Registers arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    return cx_.LowerScalarRegion(op_.regions[0], arguments);
  }
  Registers At(size_t reg) const {
    Registers out;
    for (const Registers& tile : tiles_) out.push_back(tile[reg]);
    return out;
  }
  void Put(size_t reg, const Registers& values) {
    for (size_t i = 0; i < tiles_.size(); ++i) tiles_[i][reg] = values[i];
  }

  // Afterwards tiles_ holds only the registers with coordinate 0 along the axis, in their order.
  absl::Status ReduceRegisters() {
    const std::vector<uint32_t>& bases = layout_.register_bases();
    // Lower bits of the axis first: neighbours, then neighbours of neighbours.
    std::vector<size_t> bits;
    for (size_t i = 0; i < bases.size(); ++i) {
      if ((bases[i] & axis_mask_) != 0) bits.push_back(i);
    }
    std::sort(bits.begin(), bits.end(), [&](size_t a, size_t b) { return bases[a] < bases[b]; });
    size_t done = 0;
    for (size_t bit : bits) {
      done |= size_t{1} << bit;
      for (size_t r = 0; r < tiles_[0].size(); ++r) {
        if ((r & done) != 0) continue;
        TRIVET_ASSIGN_OR_RETURN(const Registers combined, Combine(At(r), At(r | size_t{1} << bit)));
        Put(r, combined);
      }
    }
    for (Registers& tile : tiles_) {
      Registers kept;
      for (size_t r = 0; r < tile.size(); ++r) {
        if ((r & done) == 0) kept.push_back(tile[r]);
      }
      tile = std::move(kept);
    }
    return absl::OkStatus();
  }

  absl::Status ReduceLanes() {
    const std::vector<uint32_t>& bases = layout_.lane_bases();
    std::vector<int> bits;
    for (int i = 0; i < kLaneBits; ++i) {
      if ((bases[static_cast<size_t>(i)] & axis_mask_) != 0) bits.push_back(i);
    }
    std::sort(bits.begin(), bits.end(),
              [&](int a, int b) { return bases[static_cast<size_t>(a)] < bases[static_cast<size_t>(b)]; });
    for (int bit : bits) {
      Value* is_upper = nullptr;
      if (!is_commutative_) {
        is_upper = cx_.ir().CreateTrunc(cx_.ir().CreateLShr(cx_.lane(), cx_.I32(bit)), cx_.ir().getInt1Ty());
      }
      for (size_t r = 0; r < tiles_[0].size(); ++r) {
        Registers own = At(r);
        Registers partner;
        for (Value* v : own) partner.push_back(cx_.ShuffleXor(v, 1 << bit));
        if (is_upper != nullptr) {
          for (size_t i = 0; i < own.size(); ++i) {
            Value* first = cx_.ir().CreateSelect(is_upper, partner[i], own[i]);
            partner[i] = cx_.ir().CreateSelect(is_upper, own[i], partner[i]);
            own[i] = first;
          }
        }
        TRIVET_ASSIGN_OR_RETURN(const Registers combined, Combine(own, partner));
        Put(r, combined);
      }
    }
    return absl::OkStatus();
  }

  // Every warp writes its part of each line; then every thread reads the parts of its lines and combines them.
  absl::Status ReduceWarps() {
    auto& ir = cx_.ir();
    // Warp bits along the axis, by index.
    std::vector<std::pair<uint32_t, int>> bits;
    for (size_t i = 0; i < layout_.warp_bases().size(); ++i) {
      if ((layout_.warp_bases()[i] & axis_mask_) != 0) bits.emplace_back(layout_.warp_bases()[i], static_cast<int>(i));
    }
    if (bits.empty()) return absl::OkStatus();
    std::sort(bits.begin(), bits.end());
    const int64_t num_parts = int64_t{1} << bits.size();
    const TileLayout lines = layout_.WithoutAxis(axis_);
    const int64_t num_lines = lines.num_elements();

    std::vector<int64_t> offsets;
    int64_t bytes = 0;
    for (ValueId v : op_.operands) {
      offsets.push_back(bytes);
      bytes += num_parts * num_lines * cx_.type(v).element_bytes();
      bytes = (bytes + 7) / 8 * 8;
    }
    Value* scratch = cx_.Scratch(bytes);
    Value* part = cx_.I32(0);
    for (size_t i = 0; i < bits.size(); ++i) {
      Value* bit = ir.CreateAnd(ir.CreateLShr(cx_.warp(), cx_.I32(bits[i].second)), cx_.I32(1));
      part = ir.CreateOr(part, ir.CreateShl(bit, cx_.I32(static_cast<int64_t>(i))));
    }
    Value* line = cx_.ThreadElement(lines);

    // Lanes that have the same lines write once.
    uint32_t idle = 0;
    for (size_t i = 0; i < kLaneBits; ++i) {
      if (lines.lane_bases()[i] == 0) idle |= uint32_t{1} << i;
    }
    llvm::BasicBlock* write = cx_.NewBlock("reduce.write");
    llvm::BasicBlock* written = cx_.NewBlock("reduce.written");
    ir.CreateCondBr(ir.CreateICmpEQ(ir.CreateAnd(cx_.lane(), cx_.I32(idle)), cx_.I32(0)), write, written);
    ir.SetInsertPoint(write);
    for (size_t i = 0; i < tiles_.size(); ++i) {
      const vm::Type& type = cx_.type(op_.operand(static_cast<int>(i)));
      llvm::Type* memory_type = cx_.MemoryType(type);
      Value* base = ir.CreateInBoundsGEP(ir.getInt8Ty(), scratch, cx_.I32(offsets[i]));
      for (size_t r = 0; r < tiles_[i].size(); ++r) {
        Value* index = ir.CreateAdd(ir.CreateMul(part, cx_.I32(num_lines)),
                                    ir.CreateAdd(line, cx_.I32(lines.RegisterElement(static_cast<int>(r)))));
        Value* value = type.is_bool() ? ir.CreateZExt(tiles_[i][r], memory_type) : tiles_[i][r];
        ir.CreateAlignedStore(value, ir.CreateInBoundsGEP(memory_type, base, index),
                              llvm::Align(static_cast<uint64_t>(type.element_bytes())));
      }
    }
    ir.CreateBr(written);
    ir.SetInsertPoint(written);
    cx_.Barrier();

    for (size_t r = 0; r < tiles_[0].size(); ++r) {
      Registers sum;
      for (int64_t p = 0; p < num_parts; ++p) {
        Registers values;
        for (size_t i = 0; i < tiles_.size(); ++i) {
          Value* base = ir.CreateInBoundsGEP(ir.getInt8Ty(), scratch, cx_.I32(offsets[i]));
          Value* index = ir.CreateAdd(line, cx_.I32(p * num_lines + lines.RegisterElement(static_cast<int>(r))));
          values.push_back(cx_.LoadFromScratch(base, index, cx_.type(op_.operand(static_cast<int>(i)))));
        }
        if (p == 0) {
          sum = values;
        } else {
          TRIVET_ASSIGN_OR_RETURN(sum, Combine(sum, values));
        }
      }
      Put(r, sum);
    }
    return absl::OkStatus();
  }

  LoweringContext& cx_;
  const Operation& op_;
  const TileLayout& layout_;
  const int axis_;
  const uint32_t axis_mask_;
  const bool is_commutative_;
  std::vector<Registers> tiles_;  // of each input
};

}  // namespace

absl::Status LowerReduce(LoweringContext& cx, const Operation& op) { return Reducer(cx, op).Run(); }

}  // namespace trivet::jit
