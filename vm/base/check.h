// TRIVET_CHECK: our own mistakes. Never reachable from a file, an argument or a kernel.
#pragma once

#include "absl/strings/string_view.h"

namespace trivet {

// Prints where and what failed to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, absl::string_view detail);

}  // namespace trivet

// Aborts with a message when `cond` is false: an internal error. `...` may be one string with details.
#define TRIVET_CHECK(cond, ...)                   \
  (static_cast<bool>(cond) ? static_cast<void>(0) \
                           : ::trivet::CheckFailed(__FILE__, __LINE__, #cond, absl::string_view(__VA_ARGS__)))

// As TRIVET_CHECK, in development builds only.
#ifdef NDEBUG
#define TRIVET_DCHECK(cond, ...) static_cast<void>(0)
#else
#define TRIVET_DCHECK(cond, ...) TRIVET_CHECK(cond, ##__VA_ARGS__)
#endif
