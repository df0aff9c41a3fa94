// The files tests/ops/*.tvt: functions in the text form, and in comments what they are to compute.
//
//   ; case addf  T = f16 bf16 f32 f64
//   func @addf(%a: tile<4xT>, %b: tile<4xT>) -> tile<4xT> {
//     %r = addf %a, %b
//     return %r
//   }
//   ; run: @addf([1, -0.0, inf, nan], [2, 0.0, -inf, 1]) == [3, 0.0, nan, nan]
//
// A case is the text from its line to the next case's. Its types T, U, ... stand for the first of each list, then for
// the second, and so on; a lone capital letter in the text, also behind "4x", is replaced.
//
//   ; memory p: f32 = [1, 2, 3, 4]      a tensor that each of the case's runs finds as written here
//   ; run: @f(1, [2, 3]) == 4, [5, 6]   a helper's results, equal by bits; all NaNs are one
//   ; run: @f(0.5) ~= 1.64872 ulp(2)    at most two steps of the element type away
//   ; run: @f(9) traps "outside"        an error that has this text
//   ; run: @k(p, p+2, 7) grid(2, 1, 1) leaves p = [1, 2, 3, 9]      a kernel on pointers to elements 0 and 2 of p
//   ; run: @k(3) prints "x: 3"          output that has this text
//   ; run if T in f16 bf16: ...         for some of the types only
//
// A line "; " that goes on with more blanks continues the one before. A value is a literal of the text form for all
// elements, or a list in row-major order (inner brackets only help the reader) with repeats 0.5*4 and ranges 0..3. In
// what is expected, "_" stands for an element that may be anything.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

struct CaseRun {
  int line = 0;
  std::string function;
  std::vector<std::string> arguments;
  std::array<int64_t, 3> grid{1, 1, 1};
  std::optional<std::vector<std::string>> results;
  int64_t ulp = 0;                                          // how far results may be away
  std::vector<std::pair<std::string, std::string>> leaves;  // tensor and contents
  std::optional<std::string> traps;
  std::optional<std::string> prints;
};

struct CaseTensor {
  std::string name;
  Type element;
  std::string contents;
};

// One case with its types filled in.
struct OpCase {
  std::string name;  // "addf T=f16"
  std::string text;  // with blank lines in front, so that lines count as in the file
  std::vector<CaseTensor> memory;
  std::vector<CaseRun> runs;
};

// The cases of a file. Errors name the line.
absl::StatusOr<std::vector<OpCase>> ReadCases(absl::string_view text);

// One element of a value: its bits, or nothing where anything goes.
using Elements = std::vector<std::optional<int64_t>>;

// The elements that `text` gives for a value of `count` elements of type `element`. `addresses` has the address of each
// tensor, for elements that are pointers.
absl::StatusOr<Elements> ReadElements(absl::string_view text, const Type& element, int64_t count,
                                      const std::map<std::string, uint64_t>& addresses);

}  // namespace trivet::vm
