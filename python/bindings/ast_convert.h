// CPython's ast, as objects of the module `ast`, to the frontend's tree. Done once a function.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "frontend/ast.h"

namespace trivet::python {

// `source`: what JITFunction._source() gives: (ast.FunctionDef, file name, lines of the function's source, number of
// the first line, columns that were cut from the left). Throws Python exceptions.
frontend::FunctionDef ConvertFunction(const pybind11::tuple& source);

}  // namespace trivet::python
