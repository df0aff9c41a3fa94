#include "tests/support/case_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "vm/base/status.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/printer.h"

namespace trivet::vm {
namespace {

namespace fs = std::filesystem;

// Position of a float among all of its type, in order; both zeros are at 0.
int64_t RankOf(DType dtype, int64_t bits) {
  const int64_t sign = int64_t{1} << (InfoOf(dtype).bits - 1);
  const int64_t magnitude = bits & (sign - 1);
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

bool IsNear(DType dtype, int64_t a, int64_t b, int64_t ulp) {
  if (a == b) return true;
  if (!IsFloat(dtype)) return false;
  const double x = ValueOf(dtype, a);
  const double y = ValueOf(dtype, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (ulp == 0 || std::isinf(x) || std::isinf(y)) return false;
  const int64_t from = RankOf(dtype, a);
  const int64_t to = RankOf(dtype, b);
  return from > to ? from - to <= ulp : to - from <= ulp;
}

}  // namespace

std::vector<fs::path> CaseFiles() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(TRIVET_SOURCE_DIR "/tests/ops")) {
    if (entry.path().extension() == ".tvt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::StatusOr<std::vector<OpCase>> ReadCaseFile(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return ReadCases(text.str());
}

std::vector<uint8_t> BytesOf(const Elements& elements, int element_bytes) {
  std::vector<uint8_t> bytes(elements.size() * static_cast<size_t>(element_bytes));
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t bits = elements[i].value_or(0);
    std::memcpy(bytes.data() + i * static_cast<size_t>(element_bytes), &bits, static_cast<size_t>(element_bytes));
  }
  return bytes;
}

std::string CompareElements(absl::string_view what, const Type& element, const uint8_t* bytes, const Elements& expected,
                            int64_t ulp) {
  const auto size = static_cast<size_t>(element.element_bytes());
  const DType dtype = element.is_pointer() ? DType::kU64 : element.dtype();
  std::string differences;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i]) continue;
    int64_t bits = 0;
    std::memcpy(&bits, bytes + i * size, size);
    if (IsNear(dtype, bits, *expected[i], ulp)) continue;
    absl::StrAppend(&differences, what, ", element ", i, ": ", PrintElement(dtype, bits), ", expected ",
                    PrintElement(dtype, *expected[i]), " within ", ulp, " ulp\n");
  }
  return differences;
}

absl::Status Tensors::Add(const CaseTensor& tensor) {
  TRIVET_ASSIGN_OR_RETURN(const Elements elements, ReadElements(tensor.contents, tensor.element, -1, addresses_));
  const std::vector<uint8_t> bytes = BytesOf(elements, tensor.element.element_bytes());
  Storage& storage = tensors_[tensor.name];
  storage.element = tensor.element;
  storage.count = static_cast<int64_t>(elements.size());
  storage.words.resize(bytes.size() / 8 + 1);
  if (!bytes.empty()) std::memcpy(storage.words.data(), bytes.data(), bytes.size());
  addresses_[tensor.name] = reinterpret_cast<uint64_t>(storage.words.data());
  return absl::OkStatus();
}

void Tensors::Register(AllocationRegistry* registry) const {
  for (const auto& [name, storage] : tensors_) {
    Allocation allocation;
    allocation.name = name;
    allocation.storage_base = allocation.view_base = addresses_.at(name);
    allocation.storage_bytes = storage.count * storage.element.element_bytes();
    allocation.dtype = storage.element.is_pointer() ? DType::kU64 : storage.element.dtype();
    allocation.shape = {storage.count};
    allocation.strides = {1};
    registry->Add(std::move(allocation));
  }
  registry->Seal();
}

absl::StatusOr<std::string> Tensors::Compare(const std::string& name, absl::string_view contents) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return absl::InvalidArgumentError(absl::StrCat("no tensor '", name, "'"));
  const Storage& storage = found->second;
  TRIVET_ASSIGN_OR_RETURN(const Elements expected, ReadElements(contents, storage.element, storage.count, addresses_));
  return CompareElements(name, storage.element, reinterpret_cast<const uint8_t*>(storage.words.data()), expected, 0);
}

}  // namespace trivet::vm
