#include "jit/runtime/kernel_file.h"

#include <cstdint>
#include <map>
#include <type_traits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "vm/base/sha256.h"

namespace trivet::jit {
namespace {

constexpr absl::string_view kMagic = "trivetk1";
constexpr size_t kHeaderBytes = 8 + sizeof(Sha256Digest);

template <typename T>
void AppendNumber(std::string& out, T value) {
  for (size_t i = 0; i < sizeof value; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}
void AppendBytes(std::string& out, absl::string_view bytes) {
  AppendNumber<uint64_t>(out, bytes.size());
  out.append(bytes.data(), bytes.size());
}

// Takes from the front of `rest`; false if there is too little.
template <typename T>
bool TakeNumber(absl::string_view& rest, T& value) {
  if (rest.size() < sizeof value) return false;
  value = 0;
  for (size_t i = 0; i < sizeof value; ++i) value |= static_cast<T>(static_cast<uint8_t>(rest[i])) << (8 * i);
  rest.remove_prefix(sizeof value);
  return true;
}
bool TakeBytes(absl::string_view& rest, absl::string_view& bytes) {
  uint64_t size = 0;
  if (!TakeNumber(rest, size) || size > rest.size()) return false;
  bytes = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

absl::string_view AsView(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

std::string SerializeKernel(const CompiledKernel& kernel) {
  uint32_t count = 0;
  std::string fields;
  CompiledKernel::VisitFields(kernel, [&](absl::string_view name, const auto& value) {
    ++count;
    AppendBytes(fields, name);
    AppendBytes(fields, absl::StrCat(value));
  });
  std::string body;
  AppendNumber(body, count);
  body += fields;
  return absl::StrCat(kMagic, AsView(Sha256Of(body)), body);
}

absl::StatusOr<CompiledKernel> ParseKernel(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    return absl::DataLossError("no compiled kernel, or of another version");
  }
  absl::string_view rest = bytes.substr(kHeaderBytes);
  if (AsView(Sha256Of(rest)) != bytes.substr(kMagic.size(), sizeof(Sha256Digest))) {
    return absl::DataLossError("the checksum does not match");
  }
  uint32_t count = 0;
  std::map<absl::string_view, absl::string_view> fields;
  bool is_whole = TakeNumber(rest, count);
  for (uint32_t i = 0; i < count && is_whole; ++i) {
    absl::string_view name;
    absl::string_view value;
    is_whole = TakeBytes(rest, name) && TakeBytes(rest, value);
    if (is_whole) fields[name] = value;
  }
  if (!is_whole || !rest.empty()) return absl::DataLossError("its fields do not fill it");
  CompiledKernel kernel;
  std::string missing;
  CompiledKernel::VisitFields(kernel, [&](absl::string_view name, auto& value) {
    const auto field = fields.find(name);
    if (field == fields.end()) {
      missing = std::string(name);
    } else if constexpr (std::is_same_v<decltype(value), std::string&>) {
      value = std::string(field->second);
    } else if (!absl::SimpleAtoi(field->second, &value)) {
      missing = std::string(name);
    }
  });
  if (!missing.empty()) return absl::DataLossError(absl::StrCat("it has no '", missing, "'"));
  return kernel;
}

}  // namespace trivet::jit
