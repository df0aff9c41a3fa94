#include "frontend/value.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trivet::frontend {

std::string ClassName(const HostValue& cls) {
  const absl::StatusOr<HostPtr> name = cls.GetAttribute("__name__");
  return name.ok() && *name != nullptr ? (*name)->text() : cls.text();
}

std::string Value::Describe() const {
  switch (kind_) {
    case ValueKind::kError:
      return "an erroneous value";
    case ValueKind::kSsa:
      return type_.ToString();
    case ValueKind::kConstant:
      if (IsNone(constant_)) return "None";
      return absl::StrCat(std::holds_alternative<vm::Type>(constant_) ? "the type " : "constant ", ToString(constant_));
    case ValueKind::kTuple: {
      constexpr size_t kShown = 6;  // of a list that was meant to be a tensor, a few are enough
      const absl::Span<const Value> shown = absl::MakeConstSpan(items_).subspan(0, kShown);
      return absl::StrCat("(",
                          absl::StrJoin(shown, ", ", [](std::string* out, const Value& v) { *out += v.Describe(); }),
                          items_.size() > kShown ? absl::StrCat(", ... ", items_.size(), " in all") : "", ")");
    }
    case ValueKind::kAggregate: {
      std::string text;
      for (size_t i = 0; i < fields_.size(); ++i)
        absl::StrAppend(&text, i == 0 ? "" : ", ", fields_[i], ": ", items_[i].Describe());
      return absl::StrCat(ClassName(*host_), "(", text, ")");
    }
    case ValueKind::kHost:
      if (host_->kind() != HostKind::kBuiltin) return host_->text();
      if (absl::StartsWith(host_->text(), "py.")) return absl::StrCat("Python's ", host_->text().substr(3), "()");
      return absl::StrCat(absl::StrContains(host_->text(), '.') ? "" : "tl.", host_->text());
    case ValueKind::kMethod:
      return absl::StrCat("method '", name_, "' of ", items_[0].Describe());
    case ValueKind::kLambda:
      return "a lambda";
    case ValueKind::kRange:
      return "a range";
    case ValueKind::kSlice:
      return "a slice";
  }
  return "";
}

std::string Value::Key() const {
  switch (kind_) {
    case ValueKind::kError:
      return "error";
    case ValueKind::kSsa:
      return type_.ToString();
    case ValueKind::kConstant:
      return KeyOf(constant_);
    case ValueKind::kHost:
      return absl::StrCat("host:", host_->key());
    case ValueKind::kLambda:
      return absl::StrCat("lambda:", lambda_->span.line, ":", lambda_->span.column, ":",
                          reinterpret_cast<uintptr_t>(owner_));
    case ValueKind::kMethod:
    case ValueKind::kAggregate:
    case ValueKind::kTuple:
    case ValueKind::kRange:
    case ValueKind::kSlice:
      return absl::StrCat(static_cast<int>(kind_), name_, host_ == nullptr ? "" : host_->key(), "(",
                          absl::StrJoin(items_, ",", [](std::string* out, const Value& v) { *out += v.Key(); }), ")",
                          absl::StrJoin(fields_, ","));
  }
  return "";
}

void Value::Flatten(std::vector<ValueId>* ids) const {
  if (is_ssa()) ids->push_back(id_);
  for (const Value& item : items_) item.Flatten(ids);
}

Value Value::Unflatten(absl::Span<const ValueId>* ids) const {
  Value copy = *this;
  if (is_ssa()) {
    copy.id_ = ids->front();
    ids->remove_prefix(1);
    copy.known_.reset();
  }
  for (Value& item : copy.items_) item = item.Unflatten(ids);
  return copy;
}

bool Value::Identical(const Value& other) const {
  if (kind_ != other.kind_ || id_ != other.id_ || items_.size() != other.items_.size()) return false;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].Identical(other.items_[i])) return false;
  }
  return is_ssa() || Key() == other.Key();
}

}  // namespace trivet::frontend
