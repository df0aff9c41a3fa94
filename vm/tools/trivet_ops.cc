// trivet-ops: prints the op table, as docs/ops.md or as JSON.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "vm/base/options.h"
#include "vm/bytecode/op_info.h"
#include "vm/bytecode/text_form.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {
namespace {

constexpr absl::string_view kUsage = R"(usage: trivet-ops --markdown | --json | --options

Prints the op table of the tile bytecode (vm/bytecode/ops.def) to standard output.

  --markdown   the reference for people: what docs/ops.md holds
  --json       one object: {"ops": [...], "enums": {...}, "dtypes": [...]}, for programs
  --options    not ops: the environment variables of vm/base/options.def, as docs/options.md holds them
  --help       this text

Exit code: 0, or 2 if the command line is wrong.
)";

// Sections of the reference: ops from this code on, up to the next row.
struct Group {
  uint16_t first_code;
  const char* title;
};
constexpr Group kGroups[] = {
    {0x000, "Constants and where a program is"},
    {0x010, "Integers"},
    {0x030, "Floats"},
    {0x040, "Rounding to integers, roots"},
    {0x050, "Exponentials and logarithms"},
    {0x060, "Trigonometric and hyperbolic functions"},
    {0x070, "Special functions"},
    {0x082, "Norms, scaling, classification"},
    {0x0a0, "Comparison and selection"},
    {0x0b0, "Conversion"},
    {0x0c0, "Shape"},
    {0x0d0, "Reductions, scans, order"},
    {0x0e0, "Matrices"},
    {0x100, "Memory"},
    {0x120, "Control"},
    {0x130, "Output, checks, hints"},
};

const char* LevelText(OpLevel level) {
  switch (level) {
    case OpLevel::kPortable:
      return "portable";
    case OpLevel::kLowered:
      return "lowered";
  }
  return "";
}

const char* EffectsText(OpEffects effects) {
  switch (effects) {
    case OpEffects::kPure:
      return "pure";
    case OpEffects::kReads:
      return "reads";
    case OpEffects::kWrites:
      return "writes";
    case OpEffects::kReadsWrites:
      return "reads and writes";
    case OpEffects::kControl:
      return "control";
    case OpEffects::kOutput:
      return "output";
  }
  return "";
}

const char* OperandKindText(OperandKind kind) {
  switch (kind) {
    case OperandKind::kOne:
      return "one";
    case OperandKind::kOptional:
      return "optional";
    case OperandKind::kVariadic:
      return "variadic";
  }
  return "";
}

const char* AttrKindText(AttrKind kind) {
  switch (kind) {
    case AttrKind::kI64:
      return "integer";
    case AttrKind::kBool:
      return "bool";
    case AttrKind::kString:
      return "text";
    case AttrKind::kInts:
      return "integers";
    case AttrKind::kFunction:
      return "function";
    case AttrKind::kEnum:
      return "enum";
    case AttrKind::kBits:
      return "element";
  }
  return "";
}

const char* EnumName(AttrEnum type) {
  switch (type) {
    case AttrEnum::kNone:
      return "";
#define TRIVET_ENUM(Type, values) \
  case AttrEnum::k##Type:         \
    return #Type;
#include "vm/bytecode/attrs.def"
  }
  return "";
}

constexpr AttrEnum kEnums[] = {
#define TRIVET_ENUM(Type, values) AttrEnum::k##Type,
#include "vm/bytecode/attrs.def"
};

const char* DTypeClassText(DTypeClass dtype_class) {
  switch (dtype_class) {
    case DTypeClass::kNone:
      return "";
    case DTypeClass::kBool:
      return "bool";
    case DTypeClass::kSigned:
      return "signed";
    case DTypeClass::kUnsigned:
      return "unsigned";
    case DTypeClass::kFloat:
      return "float";
  }
  return "";
}

// --- markdown

// "load ptr, [mask], [other] cache=CacheModifier -> 1 result".
std::string Form(const OpInfo& op) {
  std::string form = op.text;
  form += absl::StrJoin(op.operands, ",", [](std::string* out, const OperandInfo& operand) {
    const char* name = operand.name;
    switch (operand.kind) {
      case OperandKind::kOne:
        absl::StrAppend(out, " ", name);
        return;
      case OperandKind::kOptional:
        absl::StrAppend(out, " [", name, "]");
        return;
      case OperandKind::kVariadic:
        absl::StrAppend(out, " ", name, "...");
        return;
    }
  });
  for (const AttrInfo& attr : op.attrs) {
    if (attr.kind == AttrKind::kBits) {
      absl::StrAppend(&form, " <", attr.name, ">");
    } else {
      absl::StrAppend(&form, " ", attr.name, "=",
                      attr.kind == AttrKind::kEnum ? EnumName(attr.enum_type) : AttrKindText(attr.kind));
    }
  }
  for (int i = 0; i < op.num_regions; ++i) {
    absl::StrAppend(&form, " ", i == 0 ? "" : absl::StrCat(RegionSeparator(op.op), " "), "{ }");
  }
  return form;
}

std::string ResultsText(const OpInfo& op) {
  return op.num_results == kVariadicResults ? "any" : absl::StrCat(op.num_results);
}

// Text in a table's cell.
std::string Cell(absl::string_view text) { return absl::StrReplaceAll(text, {{"|", "\\|"}}); }

void PrintMarkdown() {
  std::printf(
      "# The ops of the tile bytecode\n\n"
      "<!-- Made by trivet-ops from vm/bytecode/ops.def, attrs.def and dtypes.def. Don't edit: run ./dev docs. -->\n\n"
      "Form: operands (`[x]` may be absent, `x...` is any number), attributes with their kinds, regions. "
      "[text-form.md](text-form.md) has the spelling, [semantics.md](semantics.md) the numerics. "
      "*Rule* is the type rule `Check<Rule>`; *elementwise* means that operands and result have one shape. "
      "Pure ops depend on their operands only.\n");
  size_t next_group = 0;
  for (const OpInfo& op : AllOps()) {
    bool is_new_group = false;
    while (next_group < std::size(kGroups) && op.code >= kGroups[next_group].first_code) {
      ++next_group;
      is_new_group = true;
    }
    if (is_new_group) {
      std::printf("\n## %s\n\n| code | form | results | rule | effects | meaning |\n|---|---|---|---|---|---|\n",
                  kGroups[next_group - 1].title);
    }
    const std::string doc = absl::StrCat(op.doc, op.since > 0 ? absl::StrCat(" (Since 1.", op.since, ".)") : "",
                                         op.level == OpLevel::kLowered ? " (Between passes only.)" : "");
    std::printf("| 0x%03x | `%s` | %s | %s | %s | %s |\n", unsigned{op.code}, Cell(Form(op)).c_str(),
                ResultsText(op).c_str(), op.rule_name, EffectsText(op.effects), Cell(doc).c_str());
  }
  std::printf("\n## Enumerations\n\nThe first value is the default.\n\n| enumeration | values |\n|---|---|\n");
  for (AttrEnum type : kEnums) {
    const std::string values = absl::StrJoin(ValuesOf(type), ", ", [](std::string* out, const EnumValue& value) {
      absl::StrAppend(out, "`", value.text, "` ", value.number);
    });
    std::printf("| %s | %s |\n", EnumName(type), values.c_str());
  }
  std::printf("\n## Element types\n\n| code | type | in Triton | bits | bytes | class |\n|---|---|---|---|---|---|\n");
  for (const DTypeInfo& info : AllDTypes()) {
    std::printf("| %d | `%s` | `%s` | %d | %d | %s |\n", static_cast<int>(info.dtype), info.text, info.triton_name,
                info.bits, info.storage_bytes, DTypeClassText(info.dtype_class));
  }
}

// --- JSON

std::string Json(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

void PrintJson() {
  const auto op_json = [](std::string* out, const OpInfo& op) {
    const auto operand_json = [](std::string* to, const OperandInfo& operand) {
      absl::StrAppend(to, "{\"name\": ", Json(operand.name), ", \"kind\": ", Json(OperandKindText(operand.kind)), "}");
    };
    const auto attr_json = [](std::string* to, const AttrInfo& attr) {
      absl::StrAppend(to, "{\"name\": ", Json(attr.name), ", \"kind\": ", Json(AttrKindText(attr.kind)));
      if (attr.kind == AttrKind::kEnum) absl::StrAppend(to, ", \"enum\": ", Json(EnumName(attr.enum_type)));
      absl::StrAppend(to, "}");
    };
    absl::StrAppend(out, "    {\"code\": ", op.code, ", \"name\": ", Json(op.name), ", \"text\": ", Json(op.text),
                    ", \"since\": ", op.since, ", \"level\": ", Json(LevelText(op.level)), ", \"operands\": [",
                    absl::StrJoin(op.operands, ", ", operand_json),
                    "], \"results\": ", op.num_results == kVariadicResults ? "\"any\"" : absl::StrCat(op.num_results),
                    ", \"attributes\": [", absl::StrJoin(op.attrs, ", ", attr_json), "], \"regions\": ", op.num_regions,
                    ", \"rule\": ", Json(op.rule_name), ", \"effects\": ", Json(EffectsText(op.effects)));
    absl::StrAppend(out, ", \"doc\": ", Json(op.doc), "}");
  };
  const auto enum_json = [](std::string* out, AttrEnum type) {
    absl::StrAppend(out, "    ", Json(EnumName(type)), ": {",
                    absl::StrJoin(ValuesOf(type), ", ",
                                  [](std::string* to, const EnumValue& value) {
                                    absl::StrAppend(to, Json(value.text), ": ", value.number);
                                  }),
                    "}");
  };
  const auto dtype_json = [](std::string* out, const DTypeInfo& info) {
    absl::StrAppend(out, "    {\"code\": ", static_cast<int>(info.dtype), ", \"text\": ", Json(info.text),
                    ", \"triton\": ", Json(info.triton_name), ", \"bits\": ", info.bits,
                    ", \"bytes\": ", info.storage_bytes, ", \"class\": ", Json(DTypeClassText(info.dtype_class)), "}");
  };
  const std::string text =
      absl::StrCat("{\n  \"ops\": [\n", absl::StrJoin(AllOps(), ",\n", op_json), "\n  ],\n  \"enums\": {\n",
                   absl::StrJoin(kEnums, ",\n", enum_json), "\n  },\n  \"dtypes\": [\n",
                   absl::StrJoin(AllDTypes(), ",\n", dtype_json), "\n  ]\n}\n");
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int Main(int argc, char** argv) {
  const absl::string_view option = argc == 2 ? argv[1] : "";
  if (option == "--markdown") {
    PrintMarkdown();
  } else if (option == "--json") {
    PrintJson();
  } else if (option == "--options") {
    std::fputs(OptionsMarkdown().c_str(), stdout);
  } else if (option == "--help" || option == "-h") {
    std::printf("%.*s", static_cast<int>(kUsage.size()), kUsage.data());
  } else {
    std::fprintf(stderr, "trivet-ops: one of --markdown, --json, --options, --help is needed\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace trivet::vm

int main(int argc, char** argv) { return trivet::vm::Main(argc, argv); }
