// Type rules: which operand, result, attribute and region types each op may have. One Check<Rule> a rule of the op
// table; verifier.h calls them after it has made sure that the op has the right number of everything.
//
//   type_rules.cc           the dispatch; constants, arithmetic, comparison, conversion
//   type_rules_shape.cc     shape, reductions, matrices
//   type_rules_memory.cc    pointers, block pointers, descriptors, atomics
//   type_rules_control.cc   loops, branches, calls, output
#pragma once

#include "vm/bytecode/type_checker.h"

namespace trivet::vm {

// Reports all that is wrong with the types, attribute ranges and region interfaces of the op.
//
// Requires: operand and result counts as the table says, all ids in range, attributes of the right kinds, enumeration
// values known, regions present and ending in a terminator, a callee within the module.
void CheckTypes(TypeChecker& check);

void CheckConstant(TypeChecker& check);
void CheckArange(TypeChecker& check);
void CheckScalarI32(TypeChecker& check);
void CheckSameInteger(TypeChecker& check);
void CheckSameFloat(TypeChecker& check);
void CheckIntFloat(TypeChecker& check);
void CheckFloatInt(TypeChecker& check);
void CheckFloatToI32(TypeChecker& check);
void CheckFloatToBool(TypeChecker& check);
void CheckCompareInteger(TypeChecker& check);
void CheckCompareFloat(TypeChecker& check);
void CheckSelect(TypeChecker& check);
void CheckCast(TypeChecker& check);
void CheckBitcast(TypeChecker& check);
void CheckPtrToInt(TypeChecker& check);
void CheckIntToPtr(TypeChecker& check);

void CheckSplat(TypeChecker& check);
void CheckBroadcast(TypeChecker& check);
void CheckExpandDims(TypeChecker& check);
void CheckReshape(TypeChecker& check);
void CheckTrans(TypeChecker& check);
void CheckJoin(TypeChecker& check);
void CheckSplit(TypeChecker& check);
void CheckCat(TypeChecker& check);
void CheckSameType(TypeChecker& check);
void CheckSameTypeAxis(TypeChecker& check);
void CheckGather(TypeChecker& check);
void CheckSlice(TypeChecker& check);
void CheckInsertSlice(TypeChecker& check);
void CheckExtract(TypeChecker& check);
void CheckHistogram(TypeChecker& check);
void CheckTopK(TypeChecker& check);
void CheckDot(TypeChecker& check);
void CheckDotScaled(TypeChecker& check);

void CheckAddPtr(TypeChecker& check);
void CheckLoad(TypeChecker& check);
void CheckStore(TypeChecker& check);
void CheckAtomicRmw(TypeChecker& check);
void CheckAtomicCas(TypeChecker& check);
void CheckMakeBlockPtr(TypeChecker& check);
void CheckAdvance(TypeChecker& check);
void CheckBlockLoad(TypeChecker& check);
void CheckBlockStore(TypeChecker& check);
void CheckMakeDesc(TypeChecker& check);
void CheckDescLoad(TypeChecker& check);
void CheckDescStore(TypeChecker& check);
void CheckDescGather(TypeChecker& check);
void CheckDescScatter(TypeChecker& check);
void CheckDescReduce(TypeChecker& check);

void CheckReduce(TypeChecker& check);
void CheckScan(TypeChecker& check);
void CheckMapElementwise(TypeChecker& check);
void CheckNoTypes(TypeChecker& check);
void CheckFor(TypeChecker& check);
void CheckWhile(TypeChecker& check);
void CheckIf(TypeChecker& check);
void CheckTerminator(TypeChecker& check);
void CheckCall(TypeChecker& check);
void CheckAnyValues(TypeChecker& check);
void CheckAssert(TypeChecker& check);
void CheckHint(TypeChecker& check);

}  // namespace trivet::vm
