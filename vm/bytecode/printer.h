// Modules as text (.tvt). docs/text-form.md describes the form; parser.h reads it back.
//
// Print is total: it also writes modules that the verifier would refuse, so that they can be looked at.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

struct PrintOptions {
  // Writes loc("add.py":12:5) where known. Without it the text reads better, and loses the locations.
  bool locations = true;
};

// The text of a module, a function, or one op with its regions. The same module gives the same text, always.
// Parse(Print(module)) is SameModule(module) if options.locations and each value is defined before it is used.
std::string Print(const Module& module, const PrintOptions& options = {});
std::string PrintFunction(const Module& module, const Function& function, const PrintOptions& options = {});
std::string PrintOperation(const Module& module, const Function& function, OpId op, const PrintOptions& options = {});

// How the values of one function are spelt: "%x_ptr", "%acc.1" for a second value named acc, "%3" for the fourth value
// without a name.
class ValueNames {
 public:
  explicit ValueNames(const Function& function);

  // The spelling with its "%"; "_" for none.
  absl::string_view Of(ValueId value) const;

 private:
  void NameRegion(const Function& function, RegionId region);
  void NameValue(const Function& function, ValueId id);

  std::vector<std::string> spellings_;              // by ValueId
  absl::flat_hash_map<std::string, int64_t> uses_;  // of each author's name
  int64_t unnamed_ = 0;
};

// The element that `bits` is in type `dtype`, as a literal: "-0.0", "1e+20", "nan", "255", "true". Raw bits ("0x7fc1")
// where no literal of the value form gives them. Integers below 1e9 have all their digits; other floats the fewest that
// read back to the same bits.
std::string PrintElement(DType dtype, int64_t bits);

}  // namespace trivet::vm
