// The types and numbers of the CUDA driver's interface that Trivet uses, in its own words: no CUDA header is needed to
// build. Values and layouts are those of cuda.h (CUDA driver API reference); they are part of the driver's stable ABI.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trivet::jit::cuda {

// CUresult. Only the codes that are told apart have a name here; the rest are in cuda_errors.def or unnamed.
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kStreamCaptureUnsupported = 900;
inline constexpr Result kStreamCaptureImplicit = 906;
inline constexpr Result kLaunchOutOfResources = 701;

using Device = int;          // CUdevice
using DevicePtr = uint64_t;  // CUdeviceptr
using Context = struct CtxOpaque*;
using Module = struct ModuleOpaque*;
using Function = struct FunctionOpaque*;
using Stream = struct StreamOpaque*;  // null: the legacy default stream
using Event = struct EventOpaque*;
using LinkState = struct LinkOpaque*;
using HostFn = void (*)(void* user_data);

// CUfunction_attribute
enum FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kStaticSharedBytes = 1,
  kLocalBytes = 3,  // of a thread: stack and spilled registers
  kNumRegisters = 4,
  kBinaryVersion = 6,
  kMaxDynamicSharedBytes = 8,
  kNonPortableClusterSizeAllowed = 14,
};

// CUjit_option and CUjitInputType
enum JitOption : int {
  kInfoLogBuffer = 3,
  kInfoLogBufferSizeBytes = 4,
  kErrorLogBuffer = 5,
  kErrorLogBufferSizeBytes = 6,
};
enum JitInputType : int { kInputCubin = 0, kInputPtx = 1 };

// CUpointer_attribute and CUmemorytype
enum PointerAttribute : int { kMemoryType = 2, kDevicePointer = 3, kIsManaged = 8, kDeviceOrdinal = 9 };
enum MemoryType : unsigned int { kHostMemory = 1, kDeviceMemory = 2 };

// CUstreamCaptureStatus and CUstreamCaptureMode
enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };
enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };

// CUlaunchAttribute: an id and a value of 64 bytes.
enum LaunchAttributeId : int { kAttributeCooperative = 2, kAttributeClusterDimension = 4 };
struct LaunchAttribute {
  LaunchAttributeId id;
  int padding = 0;
  union {
    char bytes[64];
    struct {
      unsigned int x, y, z;
    } cluster_dimension;
    int cooperative;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

// CUlaunchConfig
struct LaunchConfig {
  unsigned int grid_x, grid_y, grid_z;
  unsigned int block_x, block_y, block_z;
  unsigned int shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned int num_attributes;
};
static_assert(offsetof(LaunchConfig, stream) == 32 && sizeof(LaunchConfig) == 56);

// CUtensorMap
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};
// CUtensorMapDataType
enum TensorMapType : int {
  kTensorMapU8 = 0,
  kTensorMapU16 = 1,
  kTensorMapU32 = 2,
  kTensorMapI32 = 3,
  kTensorMapU64 = 4,
  kTensorMapI64 = 5,
  kTensorMapF16 = 6,
  kTensorMapF32 = 7,
  kTensorMapF64 = 8,
  kTensorMapBF16 = 9,
};
enum TensorMapInterleave : int { kInterleaveNone = 0 };
enum TensorMapSwizzle : int { kSwizzleNone = 0, kSwizzle32B = 1, kSwizzle64B = 2, kSwizzle128B = 3 };
enum TensorMapL2Promotion : int {
  kL2PromotionNone = 0,
  kL2Promotion64B = 1,
  kL2Promotion128B = 2,
  kL2Promotion256B = 3
};
// What elements outside the tensor read as.
enum TensorMapFill : int { kFillZero = 0, kFillNan = 1 };

}  // namespace trivet::jit::cuda
