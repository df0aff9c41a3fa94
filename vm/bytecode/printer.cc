#include "vm/bytecode/printer.h"

#include <cmath>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/text_form.h"

namespace trivet::vm {
namespace {

std::string RawBits(int64_t bits) { return absl::StrFormat("0x%x", static_cast<uint64_t>(bits)); }

double ReadDecimal(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? value : std::numeric_limits<double>::quiet_NaN();
}

// A literal that rounds to `bits`, with a point or an exponent so that it reads as a float.
std::string PrintFloat(DType dtype, int64_t bits) {
  const double value = ValueOf(dtype, bits);
  std::string text;
  if (std::isnan(value)) {
    text = "nan";
  } else if (std::isinf(value)) {
    text = value > 0 ? "inf" : "-inf";
  } else if (std::abs(value) < 1e9 && value == std::trunc(value)) {
    text = absl::StrFormat("%.1f", value);
  } else {
    for (int digits = 1; digits <= 17; ++digits) {
      text = absl::StrFormat("%.*g", digits, value);
      if (BitsOf(dtype, ReadDecimal(text)) == bits) break;
    }
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
  }
  // NaNs other than the canonical one, infinities of formats that saturate, bits above the element's width.
  return BitsOf(dtype, ReadDecimal(text)) == bits ? text : RawBits(bits);
}

std::string PrintInteger(DType dtype, int64_t bits) {
  if (BitsOf(dtype, bits) != bits) return RawBits(bits);  // has bits above the element's width
  if (IsBool(dtype)) return bits != 0 ? "true" : "false";
  if (IsUnsignedInteger(dtype)) return absl::StrCat(static_cast<uint64_t>(bits));
  const int unused = 64 - InfoOf(dtype).bits;
  return absl::StrCat(static_cast<int64_t>(static_cast<uint64_t>(bits) << unused) >> unused);
}

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options) : module_(module), options_(options) {}

  void PrintModule() {
    absl::string_view separator;
    if (!module_.metadata.empty()) {
      absl::StrAppend(&out_, "module {",
                      absl::StrJoin(module_.metadata, ", ",
                                    [](std::string* out, const auto& entry) {
                                      const bool bare = IsTextIdentifier(entry.first);
                                      absl::StrAppend(out, bare ? entry.first : QuoteText(entry.first), " = ",
                                                      QuoteText(entry.second));
                                    }),
                      "}\n");
      separator = "\n";
    }
    for (const Function& function : module_.functions) {
      absl::StrAppend(&out_, separator);
      PrintFunctionText(function);
      separator = "\n";
    }
  }

  void PrintFunctionText(const Function& function) {
    const ValueNames names(function);
    function_ = &function;
    names_ = &names;
    absl::StrAppend(&out_, function.is_kernel ? "kernel " : "func ", Symbol(function.name), "(");
    if (function.body) PrintParams(function.params());
    absl::StrAppend(&out_, ")");
    if (function.result_types.size() == 1) {
      absl::StrAppend(&out_, " -> ", function.result_types[0].ToString());
    } else if (!function.result_types.empty()) {
      absl::StrAppend(&out_, " -> (");
      PrintTypes(function.result_types);
      absl::StrAppend(&out_, ")");
    }
    PrintLocation(function.location);
    if (function.body) {
      absl::StrAppend(&out_, " {\n");
      PrintOps(function.region(function.body), 1);
      absl::StrAppend(&out_, "}");
    }
    absl::StrAppend(&out_, "\n");
  }

  void PrintOneOp(const Function& function, const ValueNames& names, OpId op) {
    function_ = &function;
    names_ = &names;
    PrintOpText(function.op(op), 0);
  }

  std::string Take() { return std::move(out_); }

 private:
  static std::string Symbol(absl::string_view name) {
    return absl::StrCat("@", IsTextSymbol(name) ? std::string(name) : QuoteText(name));
  }

  void PrintTypes(absl::Span<const Type> types) {
    absl::StrAppend(&out_, absl::StrJoin(types, ", ", [](std::string* out, const Type& type) {
      absl::StrAppend(out, type.ToString());
    }));
  }

  void PrintParams(absl::Span<const ValueId> params) {
    absl::StrAppend(&out_, absl::StrJoin(params, ", ", [this](std::string* out, ValueId id) {
      absl::StrAppend(out, names_->Of(id), ": ", function_->type(id).ToString());
    }));
  }

  void PrintValues(absl::Span<const ValueId> values) {
    absl::StrAppend(&out_, absl::StrJoin(values, ", ", [this](std::string* out, ValueId id) {
      absl::StrAppend(out, names_->Of(id));
    }));
  }

  void PrintLocation(const Location& at) {
    if (!options_.locations || (at.line == 0 && at.column == 0)) return;
    const std::string file = at.file < module_.files.size() ? module_.files[at.file] : std::string();
    absl::StrAppend(&out_, " loc(", QuoteText(file), ":", at.line, ":", at.column, ")");
  }

  std::string AttributeText(const AttrInfo& info, const Attribute& value) const {
    if (const auto* text = std::get_if<std::string>(&value)) return QuoteText(*text);
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
      return absl::StrCat("[", absl::StrJoin(*ints, ", "), "]");
    }
    const int64_t number = std::get<int64_t>(value);
    switch (info.kind) {
      case AttrKind::kBool:
        if (number == 0 || number == 1) return number == 1 ? "true" : "false";
        break;
      case AttrKind::kEnum:
        if (const char* text = EnumText(info.enum_type, number)) return text;
        break;
      case AttrKind::kFunction:
        if (number >= 0 && static_cast<size_t>(number) < module_.functions.size()) {
          return Symbol(module_.functions[static_cast<size_t>(number)].name);
        }
        break;
      case AttrKind::kI64:
      case AttrKind::kBits:
      case AttrKind::kString:
      case AttrKind::kInts:
        break;
    }
    return absl::StrCat(number);
  }

  static bool IsDefault(const Attribute& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) return ints->empty();
    return std::get<int64_t>(value) == 0;
  }

  // The bits of an element stand alone, as a literal of the result's element type.
  void PrintAttribute(const Operation& op, const AttrInfo& info, const Attribute& value) {
    if (info.kind == AttrKind::kBits && std::holds_alternative<int64_t>(value)) {
      const int64_t bits = std::get<int64_t>(value);
      const bool is_number = !op.results.empty() && function_->type(op.result()).is_number();
      absl::StrAppend(&out_, " ", is_number ? PrintElement(function_->type(op.result()).dtype(), bits) : RawBits(bits));
    } else if (IsAlwaysPrinted(info) || !IsDefault(value)) {
      absl::StrAppend(&out_, " ", info.name, "=", AttributeText(info, value));
    }
  }

  void PrintOpText(const Operation& op, int depth) {
    const OpInfo& info = op.info();
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    absl::StrAppend(&out_, indent);
    PrintValues(op.results);
    absl::StrAppend(&out_, op.results.empty() ? "" : " = ", info.text, op.operands.empty() ? "" : " ");
    PrintValues(op.operands);
    for (size_t i = 0; i < info.attrs.size() && i < op.attrs.size(); ++i)
      PrintAttribute(op, info.attrs[i], op.attrs[i]);
    if (!op.results.empty()) {
      std::vector<Type> types;
      for (ValueId result : op.results) types.push_back(function_->type(result));
      absl::StrAppend(&out_, " : ");
      PrintTypes(types);
    }
    PrintLocation(op.location);
    for (size_t i = 0; i < op.regions.size(); ++i) {
      absl::StrAppend(&out_, " ", i == 0 ? "" : absl::StrCat(RegionSeparator(op.opcode), " "), "{\n");
      const Region& region = function_->region(op.regions[i]);
      if (!region.params.empty()) {
        absl::StrAppend(&out_, indent, "^(");
        PrintParams(region.params);
        absl::StrAppend(&out_, "):\n");
      }
      PrintOps(region, depth + 1);
      absl::StrAppend(&out_, indent, "}");
    }
    absl::StrAppend(&out_, "\n");
  }

  void PrintOps(const Region& region, int depth) {
    for (OpId id : region.ops) PrintOpText(function_->op(id), depth);
  }

  const Module& module_;
  const PrintOptions options_;
  const Function* function_ = nullptr;
  const ValueNames* names_ = nullptr;
  std::string out_;
};

}  // namespace

ValueNames::ValueNames(const Function& function) : spellings_(function.num_values()) {
  if (function.body) NameRegion(function, function.body);
  for (size_t i = 0; i < spellings_.size(); ++i) {
    if (spellings_[i].empty()) spellings_[i] = absl::StrCat("%undefined.", i);
  }
}

void ValueNames::NameValue(const Function& function, ValueId id) {
  std::string& spelling = spellings_[id.index()];
  if (!spelling.empty()) return;
  const std::string& author = function.value(id).name;
  if (author.empty()) {
    spelling = absl::StrCat("%", unnamed_++);
    return;
  }
  // A name without quotes has no dot, so a count per name keeps spellings apart.
  const int64_t earlier = uses_[author]++;
  spelling = absl::StrCat("%", IsTextIdentifier(author) ? author : QuoteText(author));
  if (earlier > 0) absl::StrAppend(&spelling, ".", earlier);
}

void ValueNames::NameRegion(const Function& function, RegionId region) {
  for (ValueId id : function.region(region).params) NameValue(function, id);
  for (OpId op : function.region(region).ops) {
    for (ValueId id : function.op(op).results) NameValue(function, id);
    for (RegionId inner : function.op(op).regions) NameRegion(function, inner);
  }
}

absl::string_view ValueNames::Of(ValueId value) const {
  return value.is_none() ? absl::string_view("_") : absl::string_view(spellings_[value.index()]);
}

std::string PrintElement(DType dtype, int64_t bits) {
  if (!IsDTypeCode(static_cast<uint64_t>(dtype))) return RawBits(bits);
  return IsFloat(dtype) ? PrintFloat(dtype, bits) : PrintInteger(dtype, bits);
}

std::string Print(const Module& module, const PrintOptions& options) {
  Printer printer(module, options);
  printer.PrintModule();
  return printer.Take();
}

std::string PrintFunction(const Module& module, const Function& function, const PrintOptions& options) {
  Printer printer(module, options);
  printer.PrintFunctionText(function);
  return printer.Take();
}

std::string PrintOperation(const Module& module, const Function& function, OpId op, const PrintOptions& options) {
  const ValueNames names(function);
  Printer printer(module, options);
  printer.PrintOneOp(function, names, op);
  return printer.Take();
}

}  // namespace trivet::vm
