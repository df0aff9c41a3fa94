// The verifier: what makes a module legal. Everything that comes from outside (file, text form, frontend) passes here
// before anything runs it; passes run it after themselves.
//
// It checks, in this order:
//
//   module     functions, ops and values within the limits; names of functions there and unique; metadata sorted
//   function   a body; result types legal; a kernel returns nothing and takes scalars, pointers and descriptors
//   region     used by one op only; not nested too deeply; ends in a terminator, which stands nowhere else
//   op         in the table, of a permitted level; as many operands, results, attributes and regions as its row says
//   value      defined once; type legal (extents at least 1, rank and element count within the limits)
//   operand    present unless optional; defined before, in the same region or in one around it
//   attribute  of its kind; enumeration number known; flag 0 or 1; function within the module; string not too long
//   location   file within the module
//   types      the row's type rule (type_rules.h), which also knows axes, ranges and region interfaces
//   regions of reduce, scan, map_elementwise hold pure ops, control flow, and calls to functions of such
//   calls      nothing calls itself, directly or through others
//
// An op that has the wrong number of something is reported, and its regions are not looked into.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vm/bytecode/limits.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

// One thing wrong with a module.
struct Problem {
  FunctionId function;  // none: about the module
  OpId op;              // none: about the function
  Location location;    // of the op or function; line 0 if unknown
  std::string message;  // "dot: K differs: a is tile<64x32xf16>, b is tile<16x64xf16>"

  // "matmul.py:31:21: in @matmul: dot: ...", or "in @matmul, op 12: dot: ..." when the line is unknown.
  std::string ToString(const Module& module) const;
};

// All that is wrong, at most limits.max_problems. Empty if the module is legal. Linear in the size of the module.
std::vector<Problem> FindProblems(const Module& module, const Limits& limits = {});

// OK, or InvalidArgument with the first problem and how many more there are.
absl::Status VerifyModule(const Module& module, const Limits& limits = {});

}  // namespace trivet::vm
