#include "vm/bytecode/reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "vm/base/status.h"
#include "vm/bytecode/file_format.h"
#include "vm/bytecode/verifier.h"
#include "vm/bytecode/version.h"

namespace trivet::vm {
namespace {

// Strings that are named many times may take this much more than the file: far more than any real module needs.
constexpr uint64_t kMaxCopiesPerByte = 256;
constexpr uint64_t kMaxCopiedBytes = 1 << 16;

struct Section {
  uint32_t kind = 0;
  size_t begin = 0;
  size_t end = 0;
};

std::string SectionName(uint32_t kind) {
  switch (static_cast<SectionKind>(kind)) {
    case SectionKind::kStrings:
      return "strings";
    case SectionKind::kTypes:
      return "types";
    case SectionKind::kFunctions:
      return "functions";
    case SectionKind::kDebugInfo:
      return "debug information";
    case SectionKind::kMetadata:
      return "metadata";
    case SectionKind::kNativeCode:
      return "native code";
  }
  return absl::StrCat("kind ", kind);
}

// Whether this version reads the section.
bool IsKnown(uint32_t kind) {
  return kind >= static_cast<uint32_t>(SectionKind::kStrings) && kind <= static_cast<uint32_t>(SectionKind::kMetadata);
}

int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

// Reads one file. The first error sticks: from then on every number reads as 0 and every loop ends.
class ModuleReader {
 public:
  ModuleReader(absl::Span<const uint8_t> bytes, const Limits& limits) : bytes_(bytes), limits_(limits) {
    limits_.max_level = OpLevel::kPortable;
  }

  absl::Status Read() {
    ReadHeader();
    if (ok()) ReadDirectory();
    ReadSection(SectionKind::kStrings, [this] { ReadStrings(&strings_, "string"); });
    ReadSection(SectionKind::kTypes, [this] { ReadTypes(); });
    ReadSection(SectionKind::kFunctions, [this] { ReadFunctions(); });
    ReadSection(SectionKind::kDebugInfo, [this] { ReadDebugInfo(); });
    ReadSection(SectionKind::kMetadata, [this] { ReadMetadata(); });
    return status_;
  }

  absl::Status Verify() {
    const std::vector<Problem> problems = FindProblems(module_, limits_);
    if (problems.empty()) return absl::OkStatus();
    const Problem& first = problems.front();
    size_t offset = 0;
    if (first.function) offset = function_offsets_[first.function.index()];
    if (first.op) offset = op_offsets_[first.function.index()][first.op.index()];
    in_function_ = false;
    Fail(offset, first.ToString(module_),
         problems.size() > 1 ? absl::StrCat(" (and ", problems.size() - 1, " more)") : "");
    return status_;
  }

  Module TakeModule() { return std::move(module_); }

 private:
  bool ok() const { return status_.ok(); }

  // Records "byte 0x51: <pieces> of op 12 in @add", unless something failed before.
  template <typename... Pieces>
  void Fail(size_t offset, const Pieces&... pieces) {
    if (!ok()) return;
    std::string where;
    if (in_function_) {
      if (in_op_) absl::StrAppend(&where, " of op ", function().num_ops() - 1);
      absl::StrAppend(&where, " in ",
                      function().name.empty() ? absl::StrCat("function ", module_.functions.size() - 1)
                                              : absl::StrCat("@", function().name));
    }
    status_ = absl::InvalidArgumentError(absl::StrCat(absl::StrFormat("byte 0x%x: ", offset), pieces..., where));
  }

  // --- Numbers at the cursor, which stays before end_.
  size_t remaining() const { return end_ - at_; }

  uint64_t Unsigned(absl::string_view what) {
    const size_t begin = at_;
    uint64_t value = 0;
    for (int shift = 0; ok(); shift += 7) {
      if (at_ == end_) {
        Fail(at_, "truncated while reading ", what);
        break;
      }
      const uint8_t byte = bytes_[at_++];
      const uint64_t payload = byte & 0x7fu;
      if (shift == 63 && payload > 1) {
        Fail(begin, "more than 64 bits while reading ", what);
        break;
      }
      value |= payload << shift;
      if ((byte & 0x80) == 0) return value;
      if (shift == 63) {
        Fail(begin, "more than ten bytes while reading ", what);
        break;
      }
    }
    return 0;
  }

  int64_t Signed(absl::string_view what) {
    const size_t begin = at_;
    uint64_t value = 0;
    for (int shift = 0; ok(); shift += 7) {
      if (at_ == end_) {
        Fail(at_, "truncated while reading ", what);
        break;
      }
      const uint8_t byte = bytes_[at_++];
      const uint64_t payload = byte & 0x7fu;
      if (shift == 63 && byte != 0 && byte != 0x7f) {
        Fail(begin, "more than 64 bits while reading ", what);
        break;
      }
      value |= payload << shift;
      if ((byte & 0x80) == 0) {
        const int used = shift + 7;
        if (used < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << used;
        return static_cast<int64_t>(value);
      }
    }
    return 0;
  }

  // A number below `bound`: "found 7, not below 5, while reading the type of a result".
  uint64_t Below(uint64_t bound, absl::string_view what) {
    const size_t begin = at_;
    const uint64_t value = Unsigned(what);
    if (ok() && value >= bound) Fail(begin, "found ", value, ", not below ", bound, ", while reading ", what);
    return ok() ? value : 0;
  }

  // How many things of at least one byte each follow.
  size_t Count(absl::string_view what) {
    const size_t begin = at_;
    const uint64_t count = Unsigned(what);
    if (ok() && count > remaining()) {
      Fail(begin, "truncated: ", count, " with ", remaining(), " bytes left, while reading ", what);
    }
    return ok() ? static_cast<size_t>(count) : 0;
  }

  std::string Text(absl::string_view what) {
    const size_t begin = at_;
    const size_t size = Count(what);
    if (ok() && static_cast<int64_t>(size) > limits_.max_string_bytes) {
      Fail(begin, size, " bytes, the limit is ", limits_.max_string_bytes, ", while reading ", what);
    }
    if (!ok()) return "";
    at_ += size;
    return std::string(reinterpret_cast<const char*>(bytes_.data()) + (at_ - size), size);
  }

  // One of `strings`, by its number. A long string that is named again and again must not fill the memory.
  std::string TextRef(const std::vector<std::string>& strings, absl::string_view what) {
    const size_t begin = at_;
    const uint64_t index = Below(strings.size(), what);
    if (!ok()) return "";
    copied_bytes_ += strings[index].size();
    if (copied_bytes_ > kMaxCopiedBytes + kMaxCopiesPerByte * bytes_.size()) {
      Fail(begin, "strings repeat too often: more than ", copied_bytes_, " bytes while reading ", what);
    }
    return ok() ? strings[index] : "";
  }

  void ReadHeader();
  void ReadDirectory();
  template <typename ReadContents>
  void ReadSection(SectionKind kind, const ReadContents& read);

  void ReadStrings(std::vector<std::string>* strings, absl::string_view what);
  void ReadTypes();
  Type ReadType();
  const Type& TypeRef(absl::string_view what);

  Function& function() { return module_.functions.back(); }
  void ReadFunctions();
  void ReadFunction();
  void ReadRegion(RegionId id, int64_t depth);
  void ReadOp(RegionId region, int64_t depth);
  void ReadOperands(const OpInfo& info, Operation* op);
  Attribute ReadAttribute(const AttrInfo& info);
  ValueId DefineValue(absl::string_view what);

  void ReadDebugInfo();
  Location ReadLocation(Location* last);
  void ReadValueNames(Function* function, const std::vector<std::string>& names);
  void ReadMetadata();

  const absl::Span<const uint8_t> bytes_;
  Limits limits_;
  absl::Status status_;
  uint64_t copied_bytes_ = 0;  // by TextRef
  size_t at_ = 0;
  size_t end_ = 0;

  uint16_t minor_ = 0;
  std::vector<Section> sections_;
  std::vector<std::string> strings_;
  std::vector<Type> types_;
  Module module_;
  std::vector<size_t> function_offsets_;
  std::vector<std::vector<size_t>> op_offsets_;
  int64_t total_ops_ = 0;
  int64_t total_values_ = 0;
  bool in_function_ = false;  // for messages
  bool in_op_ = false;
};

void ModuleReader::ReadHeader() {
  if (static_cast<int64_t>(bytes_.size()) > limits_.max_file_bytes) {
    return Fail(0, "the file has ", bytes_.size(), " bytes, the limit is ", limits_.max_file_bytes);
  }
  const size_t magic_bytes = std::min(bytes_.size(), kMagic.size());
  if (!std::equal(kMagic.begin(), kMagic.begin() + magic_bytes, bytes_.begin())) {
    return Fail(0, "not a tile bytecode file (.tvbc)");
  }
  if (bytes_.size() < kHeaderBytes) return Fail(bytes_.size(), "truncated while reading the header");
  const uint64_t major = LoadLittleEndian(bytes_, kVersionOffset, 2);
  minor_ = static_cast<uint16_t>(LoadLittleEndian(bytes_, kVersionOffset + 2, 2));
  if (major != kFormatMajor) {
    return Fail(kVersionOffset, "format version ", major, ".", minor_, "; this is a reader of version ", kFormatMajor);
  }
  const uint64_t file_size = LoadLittleEndian(bytes_, kFileSizeOffset, 8);
  if (file_size > bytes_.size()) {
    return Fail(bytes_.size(), "truncated: the header says that the file has ", file_size, " bytes");
  }
  if (file_size < bytes_.size()) {
    return Fail(kFileSizeOffset, "the header says that the file has ", file_size, " bytes, but it has ", bytes_.size());
  }
  const auto stored = static_cast<uint32_t>(LoadLittleEndian(bytes_, kCrcOffset, 4));
  const uint32_t computed = FileCrc(bytes_);
  if (stored != computed) {
    return Fail(kCrcOffset,
                absl::StrFormat("damaged: the checksum is 0x%08x, the header says 0x%08x", computed, stored));
  }
}

void ModuleReader::ReadDirectory() {
  const uint64_t count = LoadLittleEndian(bytes_, kSectionCountOffset, 4);
  if (count > (bytes_.size() - kHeaderBytes) / kDirectoryEntryBytes) {
    return Fail(kSectionCountOffset, "no room for a directory of ", count, " sections");
  }
  if (LoadLittleEndian(bytes_, kSectionCountOffset + 4, 4) != 0) {
    return Fail(kSectionCountOffset + 4, "reserved bytes of the header are not zero");
  }
  size_t end = kHeaderBytes + count * kDirectoryEntryBytes;
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = kHeaderBytes + i * kDirectoryEntryBytes;
    const auto kind = static_cast<uint32_t>(LoadLittleEndian(bytes_, entry, 4));
    const uint64_t flags = LoadLittleEndian(bytes_, entry + 4, 4);
    const uint64_t offset = LoadLittleEndian(bytes_, entry + 8, 8);
    const uint64_t size = LoadLittleEndian(bytes_, entry + 16, 8);
    const std::string name = absl::StrCat("section ", i, " (", SectionName(kind), ")");
    if ((flags & ~uint64_t{kSectionRequired}) != 0) return Fail(entry + 4, "unknown flags of ", name);
    if (!IsKnown(kind) && (flags & kSectionRequired) != 0) {
      return Fail(entry, name, " is required, and this reader of version ", kFormatMajor, ".", kFormatMinor,
                  " does not know it; the file has version ", kFormatMajor, ".", minor_);
    }
    if (offset < end || offset - end >= kSectionAlignment || offset % kSectionAlignment != 0) {
      return Fail(entry + 8, name, " does not start right behind what is before it: its offset is ", offset);
    }
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return Fail(entry + 16, name, " reaches beyond the end of the file: its size is ", size);
    }
    for (size_t padding = end; padding < offset; ++padding) {
      if (bytes_[padding] != 0) return Fail(padding, "padding before ", name, " is not zero");
    }
    end = static_cast<size_t>(offset + size);
    for (const Section& other : sections_) {
      if (other.kind == kind && IsKnown(kind)) return Fail(entry, "a second section of this kind: ", name);
    }
    if (IsKnown(kind)) sections_.push_back({kind, static_cast<size_t>(offset), end});
  }
  if (end != bytes_.size()) return Fail(end, "bytes behind the last section");
  for (SectionKind kind : {SectionKind::kStrings, SectionKind::kTypes, SectionKind::kFunctions}) {
    const bool found = std::any_of(sections_.begin(), sections_.end(),
                                   [&](const Section& s) { return s.kind == static_cast<uint32_t>(kind); });
    if (!found) return Fail(kHeaderBytes, "no section of ", SectionName(static_cast<uint32_t>(kind)));
  }
}

// Calls `read` with the cursor on the section, which it has to use up. Nothing if there is no such section.
template <typename ReadContents>
void ModuleReader::ReadSection(SectionKind kind, const ReadContents& read) {
  for (const Section& section : sections_) {
    if (section.kind != static_cast<uint32_t>(kind) || !ok()) continue;
    at_ = section.begin;
    end_ = section.end;
    read();
    if (ok() && at_ != end_) Fail(at_, remaining(), " bytes left over in the section of ", SectionName(section.kind));
  }
}

void ModuleReader::ReadStrings(std::vector<std::string>* strings, absl::string_view what) {
  const size_t count = Count(absl::StrCat("the number of ", what, "s"));
  for (size_t i = 0; i < count && ok(); ++i) strings->push_back(Text(absl::StrCat(what, " ", i)));
}

void ModuleReader::ReadTypes() {
  const size_t count = Count("the number of types");
  for (size_t i = 0; i < count && ok(); ++i) types_.push_back(ReadType());
}

Type ModuleReader::ReadType() {
  const size_t kind_at = at_;
  const uint64_t kind = Unsigned("the kind of a type");
  const size_t dtype_at = at_;
  const uint64_t dtype_code = Unsigned("the element type of a type");
  const size_t depth_at = at_;
  const uint64_t depth = Below(kMaxPointerDepth + 1, "the pointer depth of a type");
  const uint64_t rank = Below(kMaxRank + 1, "the rank of a type");
  Type::Shape shape;
  for (uint64_t i = 0; i < rank && ok(); ++i) {
    shape.push_back(static_cast<int64_t>(Below(uint64_t{1} << 62, "an extent of a type")));
  }
  if (ok() && !IsDTypeCode(dtype_code)) Fail(dtype_at, "there is no element type ", dtype_code);
  if (!ok()) return Type();
  const auto dtype = static_cast<DType>(dtype_code);
  if (kind == static_cast<uint64_t>(TypeKind::kValue)) {
    return Type::PointerTile(shape, dtype, static_cast<int>(depth));
  }
  if (kind != static_cast<uint64_t>(TypeKind::kBlockPtr) && kind != static_cast<uint64_t>(TypeKind::kDesc)) {
    Fail(kind_at, "there is no kind of type ", kind);
    return Type();
  }
  if (depth != 0) Fail(depth_at, "pointers as elements of a block pointer or descriptor");
  return kind == static_cast<uint64_t>(TypeKind::kBlockPtr) ? Type::BlockPtr(shape, dtype) : Type::Desc(shape, dtype);
}

const Type& ModuleReader::TypeRef(absl::string_view what) {
  static const Type* const none = new Type();
  const uint64_t index = Below(types_.size(), what);
  return ok() ? types_[index] : *none;
}

void ModuleReader::ReadFunctions() {
  const size_t begin = at_;
  const size_t count = Count("the number of functions");
  if (static_cast<int64_t>(count) > limits_.max_functions) {
    Fail(begin, count, " functions, the limit is ", limits_.max_functions);
  }
  for (size_t i = 0; i < count && ok(); ++i) ReadFunction();
}

void ModuleReader::ReadFunction() {
  function_offsets_.push_back(at_);
  op_offsets_.emplace_back();
  module_.functions.emplace_back();
  in_function_ = true;
  function().name = TextRef(strings_, "the name");
  function().is_kernel = Below(2, "the flags") != 0;
  const size_t num_results = Count("the number of results");
  for (size_t i = 0; i < num_results && ok(); ++i) function().result_types.push_back(TypeRef("a result type"));
  function().body = function().AddRegion();
  ReadRegion(function().body, 1);
  in_function_ = false;
}

void ModuleReader::ReadRegion(RegionId id, int64_t depth) {
  if (depth > limits_.max_nesting) Fail(at_, "regions nested more than ", limits_.max_nesting, " deep");
  const size_t num_params = Count("the number of parameters of a region");
  for (size_t i = 0; i < num_params && ok(); ++i) {
    const ValueId param = DefineValue("the type of a parameter");
    if (ok()) function().region(id).params.push_back(param);
  }
  const size_t num_ops = Count("the number of ops of a region");
  for (size_t i = 0; i < num_ops && ok(); ++i) {
    ReadOp(id, depth);
    in_op_ = false;
  }
}

void ModuleReader::ReadOp(RegionId region, int64_t depth) {
  const size_t begin = at_;
  if (++total_ops_ > limits_.max_ops) {
    Fail(begin, "more than ", limits_.max_ops, " ops");
    return;
  }
  const OpId id = function().AppendOp(region, Operation());
  op_offsets_.back().push_back(begin);
  in_op_ = true;
  const uint64_t code = Unsigned("the code");
  const OpInfo* info = FindOpByCode(code);
  if (info == nullptr) {
    Fail(begin, absl::StrFormat("unknown op 0x%03x in a file of version %d.%d while reading the code", code,
                                kFormatMajor, minor_));
  } else if (info->level != OpLevel::kPortable) {
    Fail(begin, info->text, " may not stand in a file: it is the code");
  }
  if (!ok()) return;

  Operation op;
  op.opcode = info->op;
  ReadOperands(*info, &op);
  for (const AttrInfo& attr : info->attrs) op.attrs.push_back(ReadAttribute(attr));
  for (int i = 0; i < info->num_regions && ok(); ++i) {
    op.regions.push_back(function().AddRegion());
    ReadRegion(op.regions.back(), depth + 1);
  }
  const size_t num_results =
      info->num_results == kVariadicResults ? Count("the number of results") : static_cast<size_t>(info->num_results);
  for (size_t i = 0; i < num_results && ok(); ++i) {
    const ValueId result = DefineValue("the type of a result");
    if (ok()) op.results.push_back(result);
  }
  function().op(id) = std::move(op);
}

void ModuleReader::ReadOperands(const OpInfo& info, Operation* op) {
  auto count = static_cast<size_t>(info.num_fixed_operands());
  if (info.has_variadic()) count += Count("the number of operands");
  const uint64_t next = function().num_values();
  for (size_t i = 0; i < count && ok(); ++i) {
    // How far back, counted from the next value; 0 for none.
    const uint64_t distance = Below(next + 1, "an operand");
    if (!ok()) return;
    op->operands.push_back(distance == 0 ? ValueId::None() : ValueId(static_cast<uint32_t>(next - distance)));
  }
}

Attribute ModuleReader::ReadAttribute(const AttrInfo& info) {
  const size_t begin = at_;
  const std::string what = absl::StrCat("attribute ", info.name);
  switch (info.kind) {
    case AttrKind::kI64:
      return Signed(what);
    case AttrKind::kBool:
      return static_cast<int64_t>(Below(2, what));
    case AttrKind::kFunction:  // may come later in the file: the verifier looks
      return static_cast<int64_t>(Below(uint64_t{1} << 32, what));
    case AttrKind::kBits:
      return static_cast<int64_t>(Unsigned(what));
    case AttrKind::kEnum: {
      const auto number = static_cast<int64_t>(Unsigned(what));
      if (ok() && EnumText(info.enum_type, number) == nullptr) Fail(begin, "no value ", number, " of ", what);
      return number;
    }
    case AttrKind::kString:
      return TextRef(strings_, what);
    case AttrKind::kInts: {
      std::vector<int64_t> numbers;
      const size_t count = Count(what);
      for (size_t i = 0; i < count && ok(); ++i) numbers.push_back(Signed(what));
      return numbers;
    }
  }
  return int64_t{0};
}

ValueId ModuleReader::DefineValue(absl::string_view what) {
  if (++total_values_ > limits_.max_values) Fail(at_, "more than ", limits_.max_values, " values");
  const Type& type = TypeRef(what);
  return ok() ? function().AddValue(type) : ValueId::None();
}

// Files, names, then for each function the locations of itself and its ops in order of their numbers, and the names of
// its values. Locations continue from one op to the next, from nothing in each function.
void ModuleReader::ReadDebugInfo() {
  ReadStrings(&module_.files, "file");
  std::vector<std::string> names;
  ReadStrings(&names, "value name");
  for (Function& function : module_.functions) {
    Location last;
    function.location = ReadLocation(&last);
    for (uint32_t i = 0; i < function.num_ops() && ok(); ++i) function.op(OpId(i)).location = ReadLocation(&last);
    ReadValueNames(&function, names);
  }
}

Location ModuleReader::ReadLocation(Location* last) {
  const size_t begin = at_;
  const uint64_t head = Unsigned("a line");
  if ((head & 1) != 0) last->file = static_cast<uint32_t>(Below(module_.files.size(), "the file of a location"));
  const int64_t column_delta = Signed("a column");
  // Neither sum can overflow: the deltas are checked before.
  constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
  const int64_t line_delta = UnZigZag(head >> 1);
  const bool sound = std::abs(line_delta) <= kMax && -kMax <= column_delta && column_delta <= kMax;
  const int64_t line = sound ? int64_t{last->line} + line_delta : -1;
  const int64_t column = sound ? int64_t{last->column} + column_delta : -1;
  if (ok() && (line < 0 || line > kMax || column < 0 || column > kMax)) Fail(begin, "line or column out of range");
  if (!ok()) return Location();
  last->line = static_cast<uint32_t>(line);
  last->column = static_cast<uint32_t>(column);
  return last->line == 0 ? Location() : *last;
}

void ModuleReader::ReadValueNames(Function* function, const std::vector<std::string>& names) {
  const size_t count = Count("the number of named values");
  uint64_t number = 0;  // of the value, from 1
  for (size_t i = 0; i < count && ok(); ++i) {
    const size_t begin = at_;
    const uint64_t step = Unsigned("a named value");
    if (ok() && (step == 0 || step > function->num_values() - number)) Fail(begin, "no such value to name");
    number += ok() ? step : 0;
    std::string name = TextRef(names, "the name of a value");
    if (ok()) function->value(ValueId(static_cast<uint32_t>(number - 1))).name = std::move(name);
  }
}

void ModuleReader::ReadMetadata() {
  const size_t count = Count("the number of metadata entries");
  for (size_t i = 0; i < count && ok(); ++i) {
    const size_t begin = at_;
    std::string key = Text("a metadata key");
    if (ok() && i > 0 && module_.metadata.back().first >= key) Fail(begin, "metadata keys are not sorted");
    std::string value = Text("a metadata value");
    module_.metadata.emplace_back(std::move(key), std::move(value));
  }
}

}  // namespace

absl::StatusOr<Module> ReadModuleUnverified(absl::Span<const uint8_t> bytes, const Limits& limits) {
  ModuleReader reader(bytes, limits);
  TRIVET_RETURN_IF_ERROR(reader.Read());
  return reader.TakeModule();
}

absl::StatusOr<Module> ReadModule(absl::Span<const uint8_t> bytes, const Limits& limits) {
  ModuleReader reader(bytes, limits);
  TRIVET_RETURN_IF_ERROR(reader.Read());
  TRIVET_RETURN_IF_ERROR(reader.Verify());
  return reader.TakeModule();
}

}  // namespace trivet::vm
