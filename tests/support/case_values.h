// The values of op cases (case_file.h) in memory: arguments as bytes, tensors, and comparing what a tier made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/support/case_file.h"
#include "vm/interpreter/memory.h"

namespace trivet::vm {

// tests/ops/*.tvt, in order.
std::vector<std::filesystem::path> CaseFiles();
absl::StatusOr<std::vector<OpCase>> ReadCaseFile(const std::filesystem::path& path);

std::vector<uint8_t> BytesOf(const Elements& elements, int element_bytes);

// What differs between a value in memory and what a case expects of it, one line an element; empty if nothing does.
std::string CompareElements(absl::string_view what, const Type& element, const uint8_t* bytes, const Elements& expected,
                            int64_t ulp);

// The tensors of a case, fresh for one run.
class Tensors {
 public:
  absl::Status Add(const CaseTensor& tensor);
  void Register(AllocationRegistry* registry) const;
  // As CompareElements. An error if there is no such tensor.
  absl::StatusOr<std::string> Compare(const std::string& name, absl::string_view contents) const;
  const std::map<std::string, uint64_t>& addresses() const { return addresses_; }
  int64_t SizeBytes(const std::string& name) const {
    const Storage& storage = tensors_.at(name);
    return storage.count * storage.element.element_bytes();
  }

 private:
  struct Storage {
    Type element;
    int64_t count = 0;
    std::vector<uint64_t> words;  // aligned for every element
  };
  std::map<std::string, Storage> tensors_;
  std::map<std::string, uint64_t> addresses_;
};

}  // namespace trivet::vm
