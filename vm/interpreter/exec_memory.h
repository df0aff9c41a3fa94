// What all ops that touch memory share: finding out whether they may, and saying why not.
#pragma once

#include <cstdint>
#include <cstring>

#include "vm/interpreter/exec_context.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {

// Which pointers an op follows, and what for.
struct AccessSite {
  int source_parameter = -1;  // of the kernel, or -1 when unknown
  bool is_foreign = false;    // may point outside every allocation
  bool writes = false;
  const char* verb = "load";  // in messages: "load is out of bounds: ..."
};

// The site of op's operand `pointer`.
AccessSite MakeSite(PrepareContext& cx, int pointer, bool writes, const char* verb);

// Finds the range that holds [address, address + size_bytes) and permits the access, and remembers it in `cx`. False if
// there is none.
bool FindAccessRange(ExecContext& cx, const AccessSite& site, uint64_t address, uint64_t size_bytes);

// True if all of [address, address + size_bytes) is in one range that permits the access.
inline bool MayAccess(ExecContext& cx, const AccessSite& site, uint64_t address, uint64_t size_bytes) {
  if (cx.last_range.Holds(address, size_bytes) && (cx.last_range.is_writable || !site.writes)) return true;
  return FindAccessRange(cx, site, address, size_bytes);
}

// True if an element at `address` is where elements of its size must be.
template <typename T>
constexpr bool IsAligned(uint64_t address) {
  return address % sizeof(T) == 0;
}

// Traps: MayAccess said no. `element` is the lane, -1 for a scalar.
void TrapAccess(ExecContext& cx, const Instr& at, const AccessSite& site, uint64_t address, int64_t size_bytes,
                int64_t element);

// Traps: `address` is not a multiple of size_bytes.
void TrapMisaligned(ExecContext& cx, const Instr& at, const AccessSite& site, uint64_t address, int64_t size_bytes,
                    int64_t element);

// Loads or stores one element at any alignment.
template <typename T>
T LoadElement(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <typename T>
void StoreElement(uint64_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

// Copies tile elements to memory that may be accessed, and counts the change.
inline void StoreBytes(ExecContext& cx, uint64_t address, const void* from, size_t size_bytes) {
  void* to = reinterpret_cast<void*>(address);
  if (cx.compare_stores && std::memcmp(to, from, size_bytes) == 0) return;
  std::memcpy(to, from, size_bytes);
  ++cx.writes;
}

}  // namespace trivet::vm
