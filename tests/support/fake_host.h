// A host made of C++ values, in place of Python: what frontend tests compile against.
//
// Objects are FakeValue, made by the functions below; a function of the author's has its tree and a map of globals.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.h"
#include "frontend/host_value.h"

namespace trivet::frontend {

class FakeValue : public HostValue {
 public:
  explicit FakeValue(HostKind kind, std::string text = "") : kind_(kind), text_(std::move(text)) {}

  HostKind kind() const override { return kind_; }
  bool is_constexpr() const override { return is_constexpr_; }
  std::string text() const override { return text_; }
  double number() const override { return number_; }
  vm::Type type() const override { return type_; }
  std::vector<HostPtr> items() const override { return items_; }
  std::string key() const override;
  absl::StatusOr<HostPtr> GetAttribute(absl::string_view name) const override;
  std::vector<std::string> attribute_names() const override;
  // Of kHostCall: gives its first argument back. Others refuse.
  absl::StatusOr<HostPtr> Call(const std::vector<HostPtr>& arguments,
                               const std::vector<std::pair<std::string, HostPtr>>& keywords) const override;
  absl::StatusOr<HostPtr> Binary(absl::string_view op, const HostPtr& other) const override;
  absl::StatusOr<const FunctionDef*> function_def() const override;
  HostPtr LookUp(absl::string_view name) const override;
  bool IsConstexprGlobal(absl::string_view) const override { return false; }
  HostPtr DefaultOf(absl::string_view parameter) const override;
  bool FunctionFlag(absl::string_view flag) const override { return flag == "library" && is_library_; }

 private:
  friend HostPtr FakeInt(const std::string&, bool);
  friend HostPtr FakeFloat(double);
  friend HostPtr FakeType(const vm::Type&);
  friend HostPtr FakeTuple(std::vector<HostPtr>);
  friend HostPtr FakeModule(const std::string&, std::map<std::string, HostPtr>);
  friend std::shared_ptr<FakeValue> FakeFunction(FunctionDef);
  friend class FakeHost;
  friend struct FakeFunctionSetup;

  HostKind kind_;
  std::string text_;
  bool is_constexpr_ = false;
  double number_ = 0;
  vm::Type type_;
  std::vector<HostPtr> items_;
  std::map<std::string, HostPtr> members_;   // attributes of a module; globals of a function
  std::map<std::string, HostPtr> defaults_;  // of a function's parameters
  std::unique_ptr<FunctionDef> def_;         // of a function; null if its "source can't be read"
  bool is_library_ = false;
};

HostPtr FakeInt(const std::string& digits, bool is_constexpr);
HostPtr FakeFloat(double number);
HostPtr FakeType(const vm::Type& type);
HostPtr FakeTuple(std::vector<HostPtr> items);
HostPtr FakeModule(const std::string& name, std::map<std::string, HostPtr> members);
// An operation of the language, by the frontend's name for it.
HostPtr FakeBuiltin(const std::string& name);
std::shared_ptr<FakeValue> FakeFunction(FunctionDef def);

// Changes to a function after it is made: functions may know each other.
struct FakeFunctionSetup {
  FakeValue* function;
  void Global(const std::string& name, HostPtr value) { function->members_[name] = std::move(value); }
  void Default(const std::string& parameter, HostPtr value) { function->defaults_[parameter] = std::move(value); }
  void MarkAsLibrary() { function->is_library_ = true; }
  void ForgetSource() { function->def_.reset(); }
};

class FakeHost : public Host {
 public:
  HostPtr MakeNone() override { return std::make_shared<FakeValue>(HostKind::kNone, "None"); }
  HostPtr MakeBool(bool value) override;
  HostPtr MakeInt(absl::string_view decimal_digits) override { return FakeInt(std::string(decimal_digits), false); }
  HostPtr MakeFloat(double value) override { return FakeFloat(value); }
  HostPtr MakeString(absl::string_view text) override;
  HostPtr MakeType(const vm::Type& type) override { return FakeType(type); }
  HostPtr MakeTuple(const std::vector<HostPtr>& items, const std::vector<std::string>& /*fields*/) override {
    return FakeTuple(items);
  }
  HostPtr LanguageMember(absl::string_view) override { return nullptr; }
  void Print(absl::string_view text) override { printed += std::string(text); }
  void Warn(absl::string_view text) override { warnings.emplace_back(text); }
  absl::StatusOr<std::string> Format(const HostPtr& value, absl::string_view spec,
                                     absl::string_view conversion) override;

  std::string printed;
  std::vector<std::string> warnings;
};

}  // namespace trivet::frontend
