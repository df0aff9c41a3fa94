// What the fake driver reads out of PTX, and what it makes of it in place of machine code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trivet::fake_cuda {

// A kernel of an image.
struct Entry {
  std::string name;
  std::vector<size_t> parameter_bytes;
};

struct Image {
  bool is_cubin = false;
  int capability = 0;  // of a cubin
  std::vector<Entry> entries;
  std::string error;  // what an assembler would say; empty if it is fine
};

// Reads a zero-terminated image. Text that does not begin with a .version directive is an error.
Image ParseImage(const char* text);

// A "cubin" that ParseImage reads back: ELF's first bytes, the architecture, the PTX.
std::string MakeCubin(const std::string& ptx, int capability);

}  // namespace trivet::fake_cuda
