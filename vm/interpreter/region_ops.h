// reduce and scan by running the region: what PrepareReduce and PrepareScan fall back to.
#pragma once

#include "absl/status/statusor.h"
#include "vm/interpreter/prepare.h"

namespace trivet::vm {

// Handlers for any region, in the order of combination that exec_reduce.cc and exec_scan.cc define. Errors: those of
// decoding the region.
absl::StatusOr<PreparedOp> PrepareReduceByRegion(PrepareContext& cx);
absl::StatusOr<PreparedOp> PrepareScanByRegion(PrepareContext& cx);

}  // namespace trivet::vm
