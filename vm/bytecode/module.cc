#include "vm/bytecode/module.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace trivet::vm {

RegionId Function::AddRegion() {
  regions_.emplace_back();
  return RegionId(static_cast<uint32_t>(regions_.size() - 1));
}

ValueId Function::AddValue(Type type, absl::string_view value_name) {
  values_.push_back({std::move(type), std::string(value_name)});
  return ValueId(static_cast<uint32_t>(values_.size() - 1));
}

ValueId Function::AddParam(RegionId region_id, Type type, absl::string_view value_name) {
  ValueId id = AddValue(std::move(type), value_name);
  region(region_id).params.push_back(id);
  return id;
}

OpId Function::AddOp(Operation op) {
  ops_.push_back(std::move(op));
  return OpId(static_cast<uint32_t>(ops_.size() - 1));
}

OpId Function::AppendOp(RegionId region_id, Operation op) {
  OpId id = AddOp(std::move(op));
  region(region_id).ops.push_back(id);
  return id;
}

FunctionId Module::FindFunction(absl::string_view name) const {
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return FunctionId(static_cast<uint32_t>(i));
  }
  return FunctionId::None();
}

uint32_t Module::InternFile(absl::string_view file) {
  auto it = std::find(files.begin(), files.end(), file);
  if (it != files.end()) return static_cast<uint32_t>(it - files.begin());
  files.emplace_back(file);
  return static_cast<uint32_t>(files.size() - 1);
}

std::optional<std::string> Module::FindMetadata(absl::string_view key) const {
  for (const auto& [k, v] : metadata) {
    if (k == key) return v;
  }
  return std::nullopt;
}

void Module::SetMetadata(absl::string_view key, absl::string_view value) {
  auto it = std::lower_bound(metadata.begin(), metadata.end(), key,
                             [](const auto& entry, absl::string_view k) { return entry.first < k; });
  if (it != metadata.end() && it->first == key) {
    it->second = std::string(value);
  } else {
    metadata.insert(it, {std::string(key), std::string(value)});
  }
}

std::string Module::LocationToString(const Location& location) const {
  if (location.line == 0 || location.file >= files.size()) return "";
  return absl::StrCat(files[location.file], ":", location.line, ":", location.column);
}

namespace {

// Compares two functions op by op, matching values as they are defined.
class FunctionComparer {
 public:
  FunctionComparer(const Module& ma, const Module& mb, const Function& a, const Function& b)
      : ma_(ma), mb_(mb), a_(a), b_(b) {}

  bool Same() {
    if (a_.name != b_.name || a_.is_kernel != b_.is_kernel || a_.result_types != b_.result_types) return false;
    if (!SameLocation(a_.location, b_.location) || a_.body.is_none() != b_.body.is_none()) return false;
    return a_.body.is_none() || SameRegion(a_.body, b_.body);
  }

 private:
  bool SameLocation(const Location& a, const Location& b) const {
    if (a.line != b.line || a.column != b.column) return false;
    return a.line == 0 || ma_.LocationToString(a) == mb_.LocationToString(b);
  }

  bool Define(ValueId a, ValueId b) {
    const Value& va = a_.value(a);
    const Value& vb = b_.value(b);
    if (va.type != vb.type || va.name != vb.name) return false;
    return match_.emplace(a, b).second;
  }

  bool SameUse(ValueId a, ValueId b) const {
    if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
    auto it = match_.find(a);
    return it != match_.end() && it->second == b;
  }

  bool SameRegion(RegionId ra, RegionId rb) {
    const Region& a = a_.region(ra);
    const Region& b = b_.region(rb);
    if (a.params.size() != b.params.size() || a.ops.size() != b.ops.size()) return false;
    for (size_t i = 0; i < a.params.size(); ++i) {
      if (!Define(a.params[i], b.params[i])) return false;
    }
    for (size_t i = 0; i < a.ops.size(); ++i) {
      if (!SameOp(a_.op(a.ops[i]), b_.op(b.ops[i]))) return false;
    }
    return true;
  }

  bool SameOp(const Operation& a, const Operation& b) {
    if (a.opcode != b.opcode || a.attrs != b.attrs || !SameLocation(a.location, b.location)) return false;
    if (a.operands.size() != b.operands.size() || a.results.size() != b.results.size() ||
        a.regions.size() != b.regions.size()) {
      return false;
    }
    for (size_t i = 0; i < a.operands.size(); ++i) {
      if (!SameUse(a.operands[i], b.operands[i])) return false;
    }
    for (size_t i = 0; i < a.regions.size(); ++i) {
      if (!SameRegion(a.regions[i], b.regions[i])) return false;
    }
    for (size_t i = 0; i < a.results.size(); ++i) {
      if (!Define(a.results[i], b.results[i])) return false;
    }
    return true;
  }

  const Module& ma_;
  const Module& mb_;
  const Function& a_;
  const Function& b_;
  absl::flat_hash_map<ValueId, ValueId> match_;
};

}  // namespace

bool SameModule(const Module& a, const Module& b) {
  if (a.functions.size() != b.functions.size() || a.metadata != b.metadata) return false;
  for (size_t i = 0; i < a.functions.size(); ++i) {
    if (!FunctionComparer(a, b, a.functions[i], b.functions[i]).Same()) return false;
  }
  return true;
}

}  // namespace trivet::vm
