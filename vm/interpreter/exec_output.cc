// Output and checks: print, assert, assume, breakpoint; and hint, which does nothing here.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/elementwise.h"
#include "vm/interpreter/execute.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {
namespace {

// A tile's elements that are printed; of longer ones, half of that from either end.
constexpr int64_t kMaxPrinted = 64;

using Formatter = std::string (*)(const std::byte* elements, int64_t i);

template <typename T>
T ElementAt(const std::byte* elements, int64_t i) {
  T value;
  std::memcpy(&value, elements + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

std::string FormatFloat(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  return absl::StrFormat("%g", x);
}

template <typename T>
std::string FormatNumber(const std::byte* elements, int64_t i) {
  const T value = ElementAt<T>(elements, i);
  if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(value);
  } else {
    return FormatFloat(static_cast<double>(Widen(value)));
  }
}

std::string FormatBool(const std::byte* elements, int64_t i) {
  return ElementAt<uint8_t>(elements, i) != 0 ? "True" : "False";
}

template <typename U>
std::string FormatHex(const std::byte* elements, int64_t i) {
  return absl::StrFormat("0x%0*x", static_cast<int>(2 * sizeof(U)), ElementAt<U>(elements, i));
}

Formatter ChooseFormatter(const Type& type, bool hex, bool as_unsigned) {
  if (hex || type.is_pointer() || !type.is_value()) {
    return VisitWidth(type.is_value() ? type.element_bytes() : 8,
                      []<typename U>(TypeTag<U>) -> Formatter { return &FormatHex<U>; });
  }
  if (type.is_bool()) return &FormatBool;
  return VisitElement(type.dtype(), [&]<typename T>() -> Formatter {
    if constexpr (std::is_integral_v<T>) {
      if (as_unsigned) return &FormatNumber<std::make_unsigned_t<T>>;
    }
    return &FormatNumber<T>;
  });
}

struct PrintedValue {
  std::string type;  // of a tile; empty for a scalar
  Type::Shape shape;
  int64_t count;
  Formatter format;
};

struct PrintPayload {
  std::string prefix;
  std::vector<PrintedValue> values;
};

// "[1, 2, ..., 7, 8]", with the brackets of the rows: "[[1, 2], [3, 4]]".
std::string FormatTile(const PrintedValue& value, const std::byte* elements) {
  const Type::Shape& shape = value.shape;
  std::string text;
  const auto is_skipped = [&](int64_t i) {
    return value.count > kMaxPrinted && i >= kMaxPrinted / 2 && i < value.count - kMaxPrinted / 2;
  };
  for (int64_t i = 0; i < value.count; ++i) {
    if (is_skipped(i)) {
      if (!is_skipped(i - 1)) absl::StrAppend(&text, ", ...");
      i = value.count - kMaxPrinted / 2 - 1;
      continue;
    }
    // One bracket for each axis whose index is 0 from here on to the last.
    int opened = 0;
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1, stride = 1; axis >= 0; --axis) {
      stride *= shape[static_cast<size_t>(axis)];
      if (i % stride != 0) break;
      ++opened;
    }
    if (i > 0) {
      if (!is_skipped(i - 1)) text.append(static_cast<size_t>(opened), ']');
      absl::StrAppend(&text, ", ");
    }
    text.append(static_cast<size_t>(opened), '[');
    text += value.format(elements, i);
  }
  text.append(shape.size(), ']');
  return text;
}

void ExecPrint(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<PrintPayload>();
  const std::string start =
      absl::StrCat("pid (", absl::StrJoin(cx.program_id, ", "), ")", payload.prefix.empty() ? "" : " ", payload.prefix);
  std::string text;
  std::string scalars;
  for (size_t i = 0; i < payload.values.size(); ++i) {
    const PrintedValue& value = payload.values[i];
    const std::byte* elements = cx.Operand<std::byte>(at, static_cast<int>(i));
    if (value.type.empty()) {
      absl::StrAppend(&scalars, scalars.empty() ? "" : ", ", value.format(elements, 0));
    } else {
      absl::StrAppend(&text, start, ": ", value.type, " ", FormatTile(value, elements), "\n");
    }
  }
  if (!scalars.empty() || payload.values.empty()) {
    text = absl::StrCat(start, scalars.empty() ? "" : ": ", scalars, "\n", text);
  }
  cx.print_sink->Write(text);
  ++cx.writes;  // whoever prints does not merely wait
}

struct CheckPayload {
  TrapKind kind;
  std::string message;
  int64_t count;
};

// assert, assume: traps at the first element where the condition is false, and the mask (of an assert) holds.
void ExecCheck(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<CheckPayload>();
  const uint8_t* condition = cx.Operand<uint8_t>(at, 0);
  const auto n = static_cast<size_t>(payload.count);
  if (std::memchr(condition, 0, n) == nullptr) return;
  const bool has_mask = at.num_operands > 1 && cx.HasOperand(at, AssertOp::In::mask);
  const uint8_t* mask = has_mask ? cx.Operand<uint8_t>(at, AssertOp::In::mask) : nullptr;
  for (int64_t i = 0; i < payload.count; ++i) {
    if (condition[i] != 0 || (mask != nullptr && mask[i] == 0)) continue;
    return cx.RaiseTrap(at, payload.kind, payload.message, payload.count == 1 ? -1 : i);
  }
}

void ExecHint(ExecContext& cx, const Instr& at) {
  std::memmove(cx.Result<std::byte>(at), cx.Operand<std::byte>(at, 0),
               static_cast<size_t>(at.payload<CountPayload>().count));
}

void ExecNothingHere(ExecContext&, const Instr&) {}

}  // namespace

absl::StatusOr<PreparedOp> PreparePrint(PrepareContext& cx) {
  PrintPayload payload;
  payload.prefix = cx.op().string_attr(PrintOp::At::prefix);
  while (!payload.prefix.empty() && (payload.prefix.back() == ' ' || payload.prefix.back() == ':')) {
    payload.prefix.pop_back();
  }
  const std::vector<int64_t>& is_signed = cx.op().ints_attr(PrintOp::At::is_signed);
  for (size_t i = 0; i < cx.op().operands.size(); ++i) {
    const Type& type = cx.operand_type(static_cast<int>(i));
    PrintedValue& value = payload.values.emplace_back();
    if (!type.is_scalar()) value.type = type.ToString();
    // Block pointers and descriptors show their words.
    value.shape = type.is_value() ? type.shape() : Type::Shape{type.value_bytes() / 8};
    value.count = type.is_value() ? type.num_elements() : type.value_bytes() / 8;
    value.format =
        ChooseFormatter(type, cx.op().bool_attr(PrintOp::At::hex), i < is_signed.size() && is_signed[i] == 0);
  }
  return MakePrepared(&ExecPrint, std::move(payload));
}

absl::StatusOr<PreparedOp> PrepareAssert(PrepareContext& cx) {
  const std::string& message = cx.op().string_attr(AssertOp::At::message);
  return MakePrepared(&ExecCheck,
                      CheckPayload{TrapKind::kAssert,
                                   message.empty() ? "assertion failed" : absl::StrCat("assertion failed: ", message),
                                   cx.operand_count(AssertOp::In::condition)});
}

absl::StatusOr<PreparedOp> PrepareAssume(PrepareContext& cx) {
  return MakePrepared(&ExecCheck, CheckPayload{TrapKind::kAssume, "what the kernel assumes does not hold",
                                               cx.operand_count(AssumeOp::In::condition)});
}

absl::StatusOr<PreparedOp> PrepareHint(PrepareContext& cx) {
  return MakePrepared(&ExecHint, CountPayload{cx.result_type().value_bytes() * cx.lanes()});
}

absl::StatusOr<PreparedOp> PrepareConvertLayout(PrepareContext& cx) { return PrepareHint(cx); }

absl::StatusOr<PreparedOp> PrepareBreakpoint(PrepareContext&) { return PreparedOp{&ExecNothingHere, nullptr}; }

}  // namespace trivet::vm
