#include "tests/support/fake_host.h"

#include "absl/strings/str_cat.h"

namespace trivet::frontend {

std::string FakeValue::key() const { return absl::StrCat(reinterpret_cast<uintptr_t>(this)); }

absl::StatusOr<HostPtr> FakeValue::GetAttribute(absl::string_view name) const {
  auto it = members_.find(std::string(name));
  return it == members_.end() ? HostPtr() : it->second;
}

std::vector<std::string> FakeValue::attribute_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : members_) names.push_back(name);
  return names;
}

absl::StatusOr<HostPtr> FakeValue::Call(const std::vector<HostPtr>& arguments,
                                        const std::vector<std::pair<std::string, HostPtr>>&) const {
  if (kind_ != HostKind::kHostCall || arguments.empty())
    return absl::InvalidArgumentError(absl::StrCat(text_, " can't be called"));
  return arguments[0];
}

absl::StatusOr<HostPtr> FakeValue::Binary(absl::string_view op, const HostPtr&) const {
  return absl::InvalidArgumentError(absl::StrCat("no operator ", op, " for ", text_));
}

absl::StatusOr<const FunctionDef*> FakeValue::function_def() const {
  if (def_ == nullptr) return absl::NotFoundError(absl::StrCat("the source of ", text_, " can't be read"));
  return def_.get();
}

HostPtr FakeValue::LookUp(absl::string_view name) const {
  auto it = members_.find(std::string(name));
  return it == members_.end() ? nullptr : it->second;
}

HostPtr FakeValue::DefaultOf(absl::string_view parameter) const {
  auto it = defaults_.find(std::string(parameter));
  return it == defaults_.end() ? nullptr : it->second;
}

HostPtr FakeInt(const std::string& digits, bool is_constexpr) {
  auto value = std::make_shared<FakeValue>(HostKind::kInt, digits);
  value->is_constexpr_ = is_constexpr;
  return value;
}

HostPtr FakeFloat(double number) {
  auto value = std::make_shared<FakeValue>(HostKind::kFloat);
  value->number_ = number;
  return value;
}

HostPtr FakeType(const vm::Type& type) {
  auto value = std::make_shared<FakeValue>(HostKind::kType, type.ToString());
  value->type_ = type;
  return value;
}

HostPtr FakeTuple(std::vector<HostPtr> items) {
  auto value = std::make_shared<FakeValue>(HostKind::kTuple);
  value->items_ = std::move(items);
  return value;
}

HostPtr FakeModule(const std::string& name, std::map<std::string, HostPtr> members) {
  auto value = std::make_shared<FakeValue>(HostKind::kModule, absl::StrCat("module '", name, "'"));
  value->members_ = std::move(members);
  return value;
}

HostPtr FakeBuiltin(const std::string& name) { return std::make_shared<FakeValue>(HostKind::kBuiltin, name); }

std::shared_ptr<FakeValue> FakeFunction(FunctionDef def) {
  auto value = std::make_shared<FakeValue>(HostKind::kFunction, absl::StrCat("function ", def.name, "()"));
  value->def_ = std::make_unique<FunctionDef>(std::move(def));
  return value;
}

HostPtr FakeHost::MakeBool(bool value) {
  return std::make_shared<FakeValue>(HostKind::kBool, value ? "True" : "False");
}

HostPtr FakeHost::MakeString(absl::string_view text) {
  return std::make_shared<FakeValue>(HostKind::kString, std::string(text));
}

absl::StatusOr<std::string> FakeHost::Format(const HostPtr& value, absl::string_view, absl::string_view) {
  return value->text();
}

}  // namespace trivet::frontend
