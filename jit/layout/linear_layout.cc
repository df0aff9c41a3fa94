#include "jit/layout/linear_layout.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/base/check.h"

namespace trivet::jit {

LinearLayout::LinearLayout(std::vector<uint32_t> bases, int out_bits) : bases_(std::move(bases)), out_bits_(out_bits) {
  TRIVET_CHECK(bases_.size() <= 32 && out_bits >= 0 && out_bits <= 32);
  for (uint32_t base : bases_) TRIVET_CHECK(static_cast<int>(std::bit_width(base)) <= out_bits);
}

LinearLayout LinearLayout::Identity(int bits) {
  std::vector<uint32_t> bases;
  for (int i = 0; i < bits; ++i) bases.push_back(uint32_t{1} << i);
  return LinearLayout(std::move(bases), bits);
}

LinearLayout LinearLayout::After(const LinearLayout& inner) const {
  TRIVET_CHECK(inner.out_bits() == in_bits());
  std::vector<uint32_t> bases;
  bases.reserve(inner.bases_.size());
  for (uint32_t base : inner.bases_) bases.push_back(Apply(base));
  return LinearLayout(std::move(bases), out_bits_);
}

LinearLayout LinearLayout::Beside(const LinearLayout& high) const {
  TRIVET_CHECK(high.out_bits() == out_bits());
  std::vector<uint32_t> bases = bases_;
  bases.insert(bases.end(), high.bases_.begin(), high.bases_.end());
  return LinearLayout(std::move(bases), out_bits_);
}

LinearLayout::Row LinearLayout::Reduce(const std::vector<Row>& rows, Row row) {
  // A row may bring back the highest bit of an earlier one, so go on until nothing fits.
  for (bool changed = true; changed && row.value != 0;) {
    changed = false;
    for (const Row& r : rows) {
      if ((row.value & std::bit_floor(r.value)) == 0) continue;
      row.value ^= r.value;
      row.inputs ^= r.inputs;
      changed = true;
    }
  }
  return row;
}

LinearLayout::Elimination LinearLayout::Eliminate() const {
  Elimination out;
  for (size_t i = 0; i < bases_.size(); ++i) {
    const Row row = Reduce(out.rows, {.value = bases_[i], .inputs = uint32_t{1} << i});
    if (row.value != 0) {
      out.rows.push_back(row);
    } else {
      out.kernel.push_back(row.inputs);
    }
  }
  return out;
}

int LinearLayout::Rank() const { return static_cast<int>(Eliminate().rows.size()); }

bool LinearLayout::IsPermutation() const {
  uint32_t seen = 0;
  for (uint32_t base : bases_) {
    if (!std::has_single_bit(base) || (seen & base) != 0) return false;
    seen |= base;
  }
  return in_bits() == out_bits();
}

uint32_t LinearLayout::FreeInputs() const {
  uint32_t free = 0;
  for (uint32_t inputs : Eliminate().kernel) free |= std::bit_floor(inputs);
  return free;
}

std::vector<uint32_t> LinearLayout::Kernel() const { return Eliminate().kernel; }

std::optional<uint32_t> LinearLayout::Solve(uint32_t which) const {
  const Row row = Reduce(Eliminate().rows, {.value = which, .inputs = 0});
  if (row.value != 0) return std::nullopt;
  return row.inputs;
}

std::optional<LinearLayout> LinearLayout::RightInverse() const {
  const std::vector<Row> rows = Eliminate().rows;
  if (static_cast<int>(rows.size()) != out_bits_) return std::nullopt;
  std::vector<uint32_t> bases;
  for (int i = 0; i < out_bits_; ++i) bases.push_back(Reduce(rows, {.value = uint32_t{1} << i, .inputs = 0}).inputs);
  return LinearLayout(std::move(bases), in_bits());
}

std::optional<LinearLayout> LinearLayout::Inverse() const {
  if (in_bits() != out_bits()) return std::nullopt;
  return RightInverse();
}

std::string LinearLayout::ToString() const {
  return absl::StrCat(in_bits(), " -> ", out_bits_, " bits {", absl::StrJoin(bases_, ", "), "}");
}

}  // namespace trivet::jit
