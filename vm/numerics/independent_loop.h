// TRIVET_INDEPENDENT_LOOP: tells the compiler that the iterations of the next loop don't depend on each other, although
// its spans may be the same memory (operations may run in place). Without it, run-time overlap checks send
// in-place calls to the scalar loop, and byte-sized outputs, which may alias anything, prevent
// vectorisation altogether. A request, not a demand: a loop that calls libm stays scalar, of which clang would warn.

#ifndef TRIVET_VM_NUMERICS_INDEPENDENT_LOOP_H_
#define TRIVET_VM_NUMERICS_INDEPENDENT_LOOP_H_

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define TRIVET_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TRIVET_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

#endif  // TRIVET_VM_NUMERICS_INDEPENDENT_LOOP_H_
