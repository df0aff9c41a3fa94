// Macros for absl::Status, which the distribution's abseil does not have yet.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function if `expr` (an absl::Status) is not OK.
#define TRIVET_RETURN_IF_ERROR(expr)                 \
  do {                                               \
    absl::Status trivet_status_ = (expr);            \
    if (!trivet_status_.ok()) return trivet_status_; \
  } while (false)

#define TRIVET_CONCAT_INNER_(a, b) a##b
#define TRIVET_CONCAT_(a, b) TRIVET_CONCAT_INNER_(a, b)

// `TRIVET_ASSIGN_OR_RETURN(auto x, F());` returns F's error or moves its value into x.
#define TRIVET_ASSIGN_OR_RETURN(lhs, expr) \
  TRIVET_ASSIGN_OR_RETURN_IMPL_(TRIVET_CONCAT_(trivet_or_, __LINE__), lhs, expr)
#define TRIVET_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                  \
  if (!tmp.ok()) return std::move(tmp).status();      \
  lhs = std::move(tmp).value()
