// Runs whatever functions a legal module has, on small arguments and for a bounded number of steps.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

// Launches each function of the module, as a kernel or from a kernel made for it, with every number 1 and every pointer
// at the same 64 KiB of zeros. It has to end by itself, in a trap, or at its step limit. It does so twice, the second
// time with an observer that looks at everything: unless a limit was reached, that may not make a difference. Gives the
// status of loading the module. Requires that it is legal.
//
// Modules that make pointers out of numbers, or load them from memory, are left alone: they may aim at the fuzzer
// itself.
absl::Status RunBounded(const Module& module, int64_t max_steps);

}  // namespace trivet::vm
