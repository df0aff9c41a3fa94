// Runs one op on byte buffers: its Prepare function, then the handler, without a decoder or a scheduler.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

// The bytes of a value, as a frame holds them.
using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes BytesOf(const std::vector<T>& elements) {
  Bytes bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> ElementsOf(const Bytes& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return elements;
}

// Element `i` of a value, as an unsigned number of `element_bytes` bytes; and setting it.
uint64_t WordAt(const Bytes& bytes, int element_bytes, int64_t i);
void SetWord(Bytes& bytes, int element_bytes, int64_t i, uint64_t word);

struct OpCall {
  Op op;
  std::vector<Type> operand_types = {};
  std::vector<Type> result_types = {};
  std::vector<Attribute> attrs = {};  // padded with zeros to what the op has
  int64_t lanes = 1;                  // elements at a time, times those of the types
  int in_place_of = -1;               // the operand whose memory the first result takes
};

// Runs the op and gives its results. Errors: those of Prepare; FailedPrecondition with the message of a trap.
absl::StatusOr<std::vector<Bytes>> RunOp(const OpCall& call, const std::vector<Bytes>& operands);

// The only result of an op that succeeds.
Bytes RunOp1(const OpCall& call, const std::vector<Bytes>& operands);

// An elementwise op on tiles of one extent. Runs it as one tile, one scalar at a time, as lanes of a scalar, and in
// place of each operand of the result's width, expects equal bytes each time, and gives them.
Bytes RunElementwise(Op op, const std::vector<DType>& operand_dtypes, DType result_dtype,
                     const std::vector<Bytes>& operands, std::vector<Attribute> attrs = {});

}  // namespace trivet::vm
