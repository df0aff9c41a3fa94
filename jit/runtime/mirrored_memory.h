// Device memory, copied to the host so that the interpreter can run a launch on it, and written back after.
//
// How addresses map. Each storage that the launch's tensors live in is copied whole, and the launch's *arguments* are
// rewritten to point into the copy, at the same alignment. So all that a kernel computes from its arguments is right,
// integers made of pointers included. If the kernel follows pointers that lie in memory (tables of pointers, as in
// grouped GEMM), the elements of its 64-bit integer tensors that are device addresses are rewritten too, and what they
// point to is copied: the whole allocation that the driver knows. Tables in that memory are not followed: reading
// through one is a trap that names the access, never a wrong result. A pointer that the kernel itself stores is the
// copy's.
//
// What is written back. Only what a kernel may write is compared with what it was, and only pages of 4096 bytes that
// changed return: another stream may use the rest of a storage meanwhile.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "jit/driver/cuda_driver.h"
#include "jit/runtime/written_parameters.h"
#include "vm/interpreter/execute.h"

namespace trivet::jit {

// A launch as the GPU would have it: addresses are the device's.
struct DeviceLaunch {
  int device = 0;
  cuda::Stream stream = nullptr;
  // Pointer and descriptor arguments hold device addresses; `memory` has the tensors that they are of. A tensor in host
  // memory (pinned, or ordinary on systems where GPUs can read it) is used in place.
  vm::LaunchRequest request;
};

class MirroredMemory {
 public:
  // Waits for the stream, then copies. A pointer argument in none of the launch's tensors brings the allocation that
  // the driver knows around it. Errors: FailedPrecondition while the stream is captured; ResourceExhausted without
  // enough host memory; the driver's, faults of earlier kernels included.
  static absl::StatusOr<MirroredMemory> Copy(const CudaDriver& driver, const vm::Module& module,
                                             const DeviceLaunch& launch);

  // The launch on the copies: the same programs, options and tensors, host addresses.
  const vm::LaunchRequest& request() const { return request_; }
  // The launch's tensors at their device addresses, with those that were found behind bare pointers.
  const std::vector<vm::Allocation>& device_tensors() const { return device_tensors_; }
  // True for a tensor in host memory: the interpreter works on it directly, and nothing is copied.
  bool IsUsedInPlace(const vm::Allocation& device_tensor) const {
    return FindRange(device_tensor.storage_base) == nullptr && device_tensor.storage_bytes > 0;
  }

  // Copies what changed back to the device, in the stream's order, and waits until it is there.
  absl::Status WriteBack();
  // Makes the copies what they were at first.
  void Restore();
  // Reads what is now in the device memory that the kernel may write: for FindActual. The copies are then for
  // comparing, no longer for running, until Restore.
  absl::Status ReadDevice();

  // Of a device address that the kernel may write: its byte in the copy, and in what ReadDevice read. Null for others.
  const void* FindCopy(uint64_t device_address) const;
  const void* FindActual(uint64_t device_address) const;

 private:
  struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct HostBuffer {
    std::unique_ptr<void, FreeDeleter> memory;
    uint8_t* bytes = nullptr;  // into it, at the device's alignment
  };

  // Device bytes [begin, begin + size).
  struct Range {
    uint64_t begin = 0;
    uint64_t size = 0;
    bool may_be_written = false;
    HostBuffer copy;      // what the interpreter works on
    HostBuffer original;  // what it was at first; only if it may be written
    HostBuffer actual;    // what ReadDevice found

    bool Holds(uint64_t address) const { return address - begin < size; }
  };
  // An element of a table of pointers.
  struct TableEntry {
    size_t range = 0;     // index into ranges_
    uint64_t offset = 0;  // into the range
    uint64_t device_address = 0;
  };

  explicit MirroredMemory(const CudaDriver& driver) : driver_(&driver) {}

  absl::Status FindTensors(const vm::Function& kernel);
  absl::Status FindRanges(const vm::Function& kernel, const WrittenParameters& written);
  void AddRange(const vm::Allocation& allocation, bool may_be_written);
  absl::Status AllocateCopies();
  static absl::Status Allocate(const Range& range, HostBuffer& buffer);
  absl::Status CopyIn();
  void Rewrite(const vm::Function& kernel);

  // Adds the allocations that the words of 64-bit integer tensors point to.
  absl::Status FindTableTargets(std::vector<vm::Allocation>& allocations) const;
  void FindTableEntries();
  // Makes entries of tables addresses of the copies or, where the kernel left them alone, of the device again.
  void PointTablesAt(bool host);

  const Range* FindRange(uint64_t address) const;
  uint64_t ToHost(uint64_t address) const;

  const CudaDriver* driver_;
  int device_ = 0;
  cuda::Stream stream_ = nullptr;
  vm::LaunchRequest request_;
  std::vector<vm::Allocation> device_tensors_;  // by address
  std::vector<Range> ranges_;                   // disjoint, by address
  std::vector<TableEntry> table_entries_;
};

// Runs `launch` on the interpreter and writes the results back if the kernel came to its end. The status is that of
// getting memory there and back; the kernel's own trap is in the result.
absl::StatusOr<vm::LaunchResult> LaunchMirrored(const CudaDriver& driver, const vm::Executable& executable,
                                                const DeviceLaunch& launch);

}  // namespace trivet::jit
