// The writer: a module as the bytes of a .tvbc file.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/bytecode/module.h"

namespace trivet::vm {

struct WriteOptions {
  bool debug_info = true;  // files, locations, names of values
};

// The file, complete. The same module gives the same bytes, however its ids are numbered; ops that no region holds are
// left out. The module must be legal (verifier.h) and of portable ops only.
std::vector<uint8_t> WriteModule(const Module& module, const WriteOptions& options = {});

// Drops files, locations and the names of values, parameters included. Names of functions and metadata stay.
void StripDebugInfo(Module* module);

}  // namespace trivet::vm
