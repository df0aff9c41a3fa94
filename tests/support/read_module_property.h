// What holds for all bytes: reading ends in a module or an error with an offset. A module that reads is legal and
// survives the round trips through bytes and through text.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace trivet::vm {

// Stops the program if the property does not hold for these bytes. Cheap: within Limits::Fuzzing(). Returns whether
// they are a module.
bool CheckReadModuleProperty(absl::Span<const uint8_t> bytes);

}  // namespace trivet::vm
