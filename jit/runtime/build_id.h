// Which build of Trivet this is: part of the key of everything that it compiles.
#pragma once

#include <string>

namespace trivet::jit {

// Differs between two builds of the program or shared object that holds this function whenever their code does: the
// linker's build id, or where there is none, the file's size and time. The same in every process.
const std::string& BuildId();

}  // namespace trivet::jit
