// Temporary: weak stand-ins until every op has its handler. Deleted before the end of this change.
#include "vm/interpreter/prepare.h"
namespace trivet::vm {
#define TRIVET_STUB_Pure(Name) \
  __attribute__((weak)) absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext&) { return absl::UnimplementedError(#Name); }
#define TRIVET_STUB_Reads(Name) TRIVET_STUB_Pure(Name)
#define TRIVET_STUB_Writes(Name) TRIVET_STUB_Pure(Name)
#define TRIVET_STUB_ReadsWrites(Name) TRIVET_STUB_Pure(Name)
#define TRIVET_STUB_Output(Name) TRIVET_STUB_Pure(Name)
#define TRIVET_STUB_Control(Name)
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs, regions, Rule, Effects, doc) TRIVET_STUB_##Effects(Name)
#include "vm/bytecode/ops.def"
}  // namespace trivet::vm
