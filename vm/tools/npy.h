// NumPy's .npy files: a header that is a Python dictionary, then the elements. Little-endian, row-major arrays of the
// element types of dtypes.def; what NumPy has no type for (bf16, f8) comes as raw bytes, 'V2' or 'V1'.
//
// Format: numpy.lib.format, versions 1.0 and 2.0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

struct NpyArray {
  std::string descr;  // "<f4", as in the file
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t num_elements() const {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
  }
};

// How NumPy writes `dtype`: "<f4", "|b1", "|V1".
inline std::string NpyDescr(DType dtype) {
  const DTypeInfo& info = InfoOf(dtype);
  const absl::string_view order = info.storage_bytes > 1 ? "<" : "|";
  switch (info.dtype_class) {
    case DTypeClass::kNone:
      break;
    case DTypeClass::kBool:
      return "|b1";
    case DTypeClass::kSigned:
      return absl::StrCat(order, "i", info.storage_bytes);
    case DTypeClass::kUnsigned:
      return absl::StrCat(order, "u", info.storage_bytes);
    case DTypeClass::kFloat:
      if (dtype == DType::kBF16 || info.storage_bytes == 1) return absl::StrCat(order, "V", info.storage_bytes);
      return absl::StrCat(order, "f", info.storage_bytes);
  }
  return "";
}

// The text of `key`'s value in the header, up to its end; empty if there is none.
inline absl::string_view NpyHeaderValue(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return "";
  absl::string_view value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (absl::StartsWith(value, "(")) return value.substr(0, value.find(')') + 1);
  return value.substr(0, value.find_first_of(",}"));
}

// The array in the bytes of a file. Errors say what is wrong with them.
inline absl::StatusOr<NpyArray> ParseNpy(absl::string_view file) {
  constexpr absl::string_view kMagic = "\x93NUMPY";
  if (!absl::StartsWith(file, kMagic) || file.size() < 12) return absl::InvalidArgumentError("not a .npy file");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(file[i])); };
  const bool is_long = byte(6) >= 2;
  const size_t start = is_long ? 12 : 10;
  const size_t length = byte(8) | byte(9) << 8 | (is_long ? byte(10) << 16 | byte(11) << 24 : 0);
  if (file.size() - start < length) return absl::InvalidArgumentError("the header is cut off");
  const absl::string_view header = file.substr(start, length);
  NpyArray array;
  const absl::string_view descr = NpyHeaderValue(header, "descr");
  if (descr.size() < 4) return absl::InvalidArgumentError("the header has no simple 'descr'");
  array.descr = std::string(descr.substr(1, descr.size() - 2));
  int64_t item_bytes;
  if (array.descr[0] == '>' || !absl::SimpleAtoi(array.descr.substr(2), &item_bytes) || item_bytes < 1 ||
      item_bytes > 8) {
    return absl::InvalidArgumentError(absl::StrCat("elements of type ", array.descr, " are not supported"));
  }
  if (NpyHeaderValue(header, "fortran_order") != "False") {
    return absl::InvalidArgumentError("the array is not in row-major order");
  }
  absl::string_view shape = NpyHeaderValue(header, "shape");
  if (!absl::StartsWith(shape, "(") || !absl::EndsWith(shape, ")"))
    return absl::InvalidArgumentError("the header has no shape");
  int64_t bytes = item_bytes;
  for (absl::string_view text :
       absl::StrSplit(shape.substr(1, shape.size() - 2), absl::ByAnyChar(", "), absl::SkipEmpty())) {
    int64_t extent;
    if (!absl::SimpleAtoi(text, &extent) || extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat("the shape ", shape, " makes no sense"));
    }
    array.shape.push_back(extent);
  }
  const absl::string_view data = file.substr(start + length);
  if (data.size() != static_cast<size_t>(bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape ", shape, " needs ", bytes, " bytes, the file has ", data.size()));
  }
  array.bytes.assign(data.begin(), data.end());
  return array;
}

// The bytes of a file, version 1.0, with the data at a multiple of 64.
inline std::string FormatNpy(const NpyArray& array) {
  std::string header = absl::StrCat("{'descr': '", array.descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(array.shape, ", "), array.shape.size() == 1 ? "," : "", "), }");
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return absl::StrCat(file, header,
                      absl::string_view(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()));
}

}  // namespace trivet::vm
