// What the handlers of mathematical operations share.
#pragma once

#include <string>
#include <vector>

#include "frontend/builtins.h"

namespace trivet::frontend {

// The operation as messages name it: "tl.exp", "libdevice.tanh".
std::string Shown(const BuiltinCall& call);

// Makes numbers and tiles floats of one type and shape: numbers adapt to the tiles' common type. False after an error.
bool FloatOperands(FunctionLowering& fl, const BuiltinCall& call, std::vector<Value>* values);

}  // namespace trivet::frontend
