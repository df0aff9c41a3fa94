// cse: computes equal pure expressions once: same op, operands, attributes and result types. The first one stays.
//
// Before: any level. After: the same. Keeps: loads and everything with effects; ops with regions (reductions) as they
// are. A value is shared with the regions inside the one that defines it, never with regions beside it.
#include <algorithm>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Operation;

class Merger {
 public:
  explicit Merger(Function& fn) : fn_(fn), replacements_(fn) {}

  int64_t Run() {
    Walk(fn_.body);
    return merged_;
  }

 private:
  // An op by what it computes.
  size_t HashOf(const Operation& op) const {
    size_t hash = absl::HashOf(static_cast<int>(op.opcode));
    for (const vm::Attribute& attr : op.attrs) {
      hash = std::visit([&](const auto& value) { return absl::HashOf(hash, value); }, attr);
    }
    for (ValueId operand : op.operands) hash = absl::HashOf(hash, operand);
    for (ValueId result : op.results) hash = absl::HashOf(hash, static_cast<int>(fn_.type(result).dtype()));
    return hash;
  }
  bool Same(const Operation& a, const Operation& b) const {
    return a.opcode == b.opcode && a.operands == b.operands && a.attrs == b.attrs &&
           std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(),
                      [&](ValueId x, ValueId y) { return fn_.type(x) == fn_.type(y); });
  }

  // The op among those in scope that computes the same as `id`, or none.
  OpId Find(size_t hash, OpId id) const {
    const auto found = seen_.find(hash);
    if (found == seen_.end()) return OpId();
    for (OpId candidate : found->second) {
      if (Same(fn_.op(candidate), fn_.op(id))) return candidate;
    }
    return OpId();
  }

  void Walk(RegionId region) {
    std::vector<size_t> entered;  // hashes that go out of scope with the region
    std::vector<OpId> kept;
    for (OpId id : fn_.region(region).ops) {
      Operation& op = fn_.op(id);
      replacements_.Apply(op);
      for (RegionId inner : op.regions) Walk(inner);
      if (op.info().effects == vm::OpEffects::kPure && op.regions.empty()) {
        const size_t hash = HashOf(op);
        const OpId same = Find(hash, id);
        if (same) {
          for (size_t i = 0; i < op.results.size(); ++i) replacements_.Set(op.results[i], fn_.op(same).results[i]);
          ++merged_;
          continue;
        }
        seen_[hash].push_back(id);
        entered.push_back(hash);
      }
      kept.push_back(id);
    }
    for (size_t hash : entered) seen_[hash].pop_back();
    fn_.region(region).ops = std::move(kept);
  }

  Function& fn_;
  Replacements replacements_;
  absl::flat_hash_map<size_t, std::vector<OpId>> seen_;
  int64_t merged_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> CommonSubexpressions(Function& fn, PassContext& cx) {
  const int64_t merged = Merger(fn).Run();
  cx.Count("merged", merged);
  return PassResult{.changed = merged > 0};
}

}  // namespace trivet::jit
