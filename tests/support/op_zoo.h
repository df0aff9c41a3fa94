// The op zoo: a small legal module that holds every op of the table. Tests that must treat all ops (round trips,
// golden files, fuzzing seeds) walk through it, so that a new op can't be forgotten.
#pragma once

#include "vm/bytecode/module.h"
#include "vm/bytecode/op_info.h"

namespace trivet::vm {

// One function `zoo_<op>` for each row of the table that has this level; only portable ops may be in a file. Its
// parameters are the op's operands, it returns the results. Terminators stand where they belong: `zoo_break` has a loop
// that breaks. Ops, values and functions have locations and names, the module has metadata. Made from the rows by type
// rule: a new op with an old rule is in it at once.
Module MakeOpZoo(OpLevel level = OpLevel::kPortable);

// A kernel that uses most kinds of things together: loops, a helper, masks, a dot, a reduction. Legal, and meant to be
// run: `copy_rows(x: ptr<f32>, y: ptr<f32>, n: i32)`.
Module MakeSampleModule();

}  // namespace trivet::vm
