#include "vm/bytecode/writer.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "vm/base/check.h"
#include "vm/bytecode/file_format.h"
#include "vm/bytecode/version.h"

namespace trivet::vm {
namespace {

// Bytes of one section.
class ByteWriter {
 public:
  void Byte(uint8_t byte) { bytes_.push_back(byte); }
  void Unsigned(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
    Byte(static_cast<uint8_t>(value));
  }
  void Signed(int64_t value) {
    // Until what is left is only the sign, and the last bit written says so.
    while (value < -64 || value > 63) {
      Byte(static_cast<uint8_t>((value & 0x7f) | 0x80));
      value >>= 7;
    }
    Byte(static_cast<uint8_t>(value & 0x7f));
  }
  void Text(absl::string_view text) {
    Unsigned(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void Append(const ByteWriter& other) { bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end()); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// A table whose entries get numbers in the order in which they are first asked for. Key: how equal entries look.
class Interner {
 public:
  // The number of `key`; if it is new, `write(&bytes())` has to append the entry.
  template <typename Write>
  uint64_t Number(absl::string_view key, const Write& write) {
    auto [it, is_new] = numbers_.try_emplace(std::string(key), numbers_.size());
    if (is_new) write(&entries_);
    return it->second;
  }
  uint64_t Text(absl::string_view text) {
    return Number(text, [&](ByteWriter* out) { out->Text(text); });
  }
  // The count, then the entries.
  void WriteTo(ByteWriter* out) const {
    out->Unsigned(numbers_.size());
    out->Append(entries_);
  }

 private:
  absl::flat_hash_map<std::string, uint64_t> numbers_;
  ByteWriter entries_;
};

uint64_t ZigZag(int64_t value) { return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63); }

class ModuleWriter {
 public:
  ModuleWriter(const Module& module, const WriteOptions& options) : module_(module), options_(options) {}

  std::vector<uint8_t> Write() {
    code_.Unsigned(module_.functions.size());
    for (const Function& function : module_.functions) WriteFunction(function);
    AddTable(SectionKind::kStrings, strings_);
    AddTable(SectionKind::kTypes, types_);
    AddSection(SectionKind::kFunctions, kSectionRequired, code_);
    if (options_.debug_info && has_debug_info_) AddDebugInfo();
    if (!module_.metadata.empty()) AddMetadata();
    return Assemble();
  }

 private:
  struct Section {
    SectionKind kind;
    uint32_t flags;
    ByteWriter bytes;
  };

  void AddSection(SectionKind kind, uint32_t flags, ByteWriter bytes) {
    sections_.push_back({kind, flags, std::move(bytes)});
  }
  void AddTable(SectionKind kind, const Interner& table) {
    ByteWriter bytes;
    table.WriteTo(&bytes);
    AddSection(kind, kSectionRequired, std::move(bytes));
  }

  uint64_t TypeNumber(const Type& type) {
    return types_.Number(type.ToString(), [&](ByteWriter* out) {
      out->Byte(static_cast<uint8_t>(type.kind()));
      out->Byte(static_cast<uint8_t>(type.dtype()));
      out->Byte(static_cast<uint8_t>(type.pointer_depth()));
      out->Unsigned(static_cast<uint64_t>(type.rank()));
      for (int64_t extent : type.shape()) out->Unsigned(static_cast<uint64_t>(extent));
    });
  }

  // --- Code. Values get numbers as they are defined; an operand says how far back its number is, 0 if it is absent.
  void WriteFunction(const Function& function) {
    function_ = &function;
    value_numbers_.assign(function.num_values(), 0);
    next_value_ = 1;
    last_ = Location{};
    code_.Unsigned(strings_.Text(function.name));
    code_.Unsigned(function.is_kernel ? 1 : 0);
    code_.Unsigned(function.result_types.size());
    for (const Type& type : function.result_types) code_.Unsigned(TypeNumber(type));
    WriteLocation(function.location);
    WriteRegion(function.body);
    WriteValueNames();
  }

  void WriteRegion(RegionId id) {
    const Region& region = function_->region(id);
    code_.Unsigned(region.params.size());
    for (ValueId param : region.params) DefineValue(param);
    code_.Unsigned(region.ops.size());
    for (OpId op : region.ops) WriteOp(function_->op(op));
  }

  void WriteOp(const Operation& op) {
    const OpInfo& info = op.info();
    TRIVET_CHECK(info.level == OpLevel::kPortable, info.text);
    WriteLocation(op.location);
    code_.Unsigned(info.code);
    if (info.has_variadic()) code_.Unsigned(op.operands.size() - static_cast<size_t>(info.num_fixed_operands()));
    for (ValueId operand : op.operands) code_.Unsigned(operand.is_none() ? 0 : next_value_ - NumberOf(operand));
    for (size_t i = 0; i < info.attrs.size(); ++i) WriteAttribute(info.attrs[i].kind, op.attrs[i]);
    for (RegionId region : op.regions) WriteRegion(region);
    if (info.num_results == kVariadicResults) code_.Unsigned(op.results.size());
    for (ValueId result : op.results) DefineValue(result);
  }

  void WriteAttribute(AttrKind kind, const Attribute& attribute) {
    switch (kind) {
      case AttrKind::kI64:
        code_.Signed(std::get<int64_t>(attribute));
        return;
      case AttrKind::kBool:
      case AttrKind::kFunction:
      case AttrKind::kEnum:
      case AttrKind::kBits:
        code_.Unsigned(static_cast<uint64_t>(std::get<int64_t>(attribute)));
        return;
      case AttrKind::kString:
        code_.Unsigned(strings_.Text(std::get<std::string>(attribute)));
        return;
      case AttrKind::kInts:
        const auto& numbers = std::get<std::vector<int64_t>>(attribute);
        code_.Unsigned(numbers.size());
        for (int64_t number : numbers) code_.Signed(number);
        return;
    }
  }

  void DefineValue(ValueId id) {
    const Value& value = function_->value(id);
    code_.Unsigned(TypeNumber(value.type));
    if (!value.name.empty()) names_.emplace_back(next_value_, value.name);
    value_numbers_[id.index()] = next_value_++;
  }

  uint64_t NumberOf(ValueId id) const {
    const uint64_t number = value_numbers_[id.index()];
    TRIVET_CHECK(number != 0, "an operand is used before it is defined");
    return number;
  }

  // --- Debug information, collected on the way.
  // zigzag(line - last line) * 2 + (another file), that file, column - last column.
  void WriteLocation(const Location& location) {
    Location at = location;
    if (at.line == 0) at = Location{last_.file, 0, 0};  // unknown: the file does not matter
    const bool another_file = at.file != last_.file;
    const int64_t lines = int64_t{at.line} - int64_t{last_.line};
    locations_.Unsigned(ZigZag(lines) << 1 | (another_file ? 1 : 0));
    if (another_file) locations_.Unsigned(at.file);
    locations_.Signed(int64_t{at.column} - int64_t{last_.column});
    has_debug_info_ |= at.line != 0;
    last_ = at;
  }

  void WriteValueNames() {
    locations_.Unsigned(names_.size());
    uint64_t last = 0;
    for (const auto& [number, name] : names_) {
      locations_.Unsigned(number - last);
      locations_.Unsigned(debug_strings_.Text(name));
      last = number;
    }
    has_debug_info_ |= !names_.empty();
    names_.clear();
  }

  void AddDebugInfo() {
    ByteWriter bytes;
    bytes.Unsigned(module_.files.size());
    for (const std::string& file : module_.files) bytes.Text(file);
    debug_strings_.WriteTo(&bytes);
    bytes.Append(locations_);
    AddSection(SectionKind::kDebugInfo, 0, std::move(bytes));
  }

  void AddMetadata() {
    ByteWriter bytes;
    bytes.Unsigned(module_.metadata.size());
    for (const auto& [key, value] : module_.metadata) {
      bytes.Text(key);
      bytes.Text(value);
    }
    AddSection(SectionKind::kMetadata, 0, std::move(bytes));
  }

  std::vector<uint8_t> Assemble() const {
    const auto aligned = [](size_t offset) {
      return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    };
    std::vector<uint8_t> file(kHeaderBytes + sections_.size() * kDirectoryEntryBytes);
    std::copy(kMagic.begin(), kMagic.end(), file.begin());
    StoreLittleEndian(absl::MakeSpan(file), kVersionOffset, 2, kFormatMajor);
    StoreLittleEndian(absl::MakeSpan(file), kVersionOffset + 2, 2, kFormatMinor);
    StoreLittleEndian(absl::MakeSpan(file), kSectionCountOffset, 4, sections_.size());
    size_t entry = kHeaderBytes;
    for (const Section& section : sections_) {
      file.resize(aligned(file.size()));
      const std::vector<uint8_t>& bytes = section.bytes.bytes();
      StoreLittleEndian(absl::MakeSpan(file), entry, 4, static_cast<uint32_t>(section.kind));
      StoreLittleEndian(absl::MakeSpan(file), entry + 4, 4, section.flags);
      StoreLittleEndian(absl::MakeSpan(file), entry + 8, 8, file.size());
      StoreLittleEndian(absl::MakeSpan(file), entry + 16, 8, bytes.size());
      entry += kDirectoryEntryBytes;
      file.insert(file.end(), bytes.begin(), bytes.end());
    }
    SealFile(absl::MakeSpan(file));
    return file;
  }

  const Module& module_;
  const WriteOptions options_;
  std::vector<Section> sections_;
  Interner strings_;
  Interner types_;
  ByteWriter code_;
  Interner debug_strings_;
  ByteWriter locations_;
  bool has_debug_info_ = false;

  // Of the function that is being written.
  const Function* function_ = nullptr;
  std::vector<uint64_t> value_numbers_;  // from 1; 0: not defined yet
  uint64_t next_value_ = 1;
  Location last_;
  std::vector<std::pair<uint64_t, absl::string_view>> names_;
};

}  // namespace

std::vector<uint8_t> WriteModule(const Module& module, const WriteOptions& options) {
  return ModuleWriter(module, options).Write();
}

void StripDebugInfo(Module* module) {
  module->files.clear();
  for (Function& function : module->functions) {
    function.location = Location{};
    for (uint32_t i = 0; i < function.num_ops(); ++i) function.op(OpId(i)).location = Location{};
    for (uint32_t i = 0; i < function.num_values(); ++i) function.value(ValueId(i)).name.clear();
  }
}

}  // namespace trivet::vm
