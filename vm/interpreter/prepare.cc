#include "vm/interpreter/prepare.h"

#include "vm/base/check.h"

namespace trivet::vm {

absl::StatusOr<PreparedOp> PrepareOp(PrepareContext& cx) {
  // One case an op, from the table; control flow has none.
#define TRIVET_CASE_Pure(Name) \
  case Op::k##Name:            \
    return Prepare##Name(cx);
#define TRIVET_CASE_Reads(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_Writes(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_ReadsWrites(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_Output(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_Control(Name) \
  case Op::k##Name:               \
    break;
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs, regions, Rule, Effects, doc) \
  TRIVET_CASE_##Effects(Name)
  switch (cx.op().opcode) {
#include "vm/bytecode/ops.def"
  }
  TRIVET_CHECK(false, "control flow is decoded, not prepared");
  __builtin_unreachable();
}

}  // namespace trivet::vm
