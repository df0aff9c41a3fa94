#include "vm/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace trivet {

void CheckFailed(const char* file, int line, const char* condition, absl::string_view detail) {
  std::fprintf(stderr, "%s:%d: internal error: %s %.*s\n", file, line, condition, static_cast<int>(detail.size()),
               detail.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace trivet
