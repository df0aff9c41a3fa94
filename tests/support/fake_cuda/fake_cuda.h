// A CUDA driver without a GPU: libcuda_fake.so answers every function of jit/driver/cuda_api.def on the host, and tests
// steer and question it through the functions here.
//
// Device memory is the host's, so addresses can be looked into. A module is PTX text (its .entry names and parameters
// are read) or a "cubin" that cuLinkComplete made of one. A launch runs the body that a test gave the kernel, if any,
// at once. Streams do nothing else; captures are kept by the book: what the driver forbids while a graph is captured
// fails here too.
//
// The environment steers it where there is no C++ around: FAKE_CUDA_DEVICES=2, FAKE_CUDA_CAPABILITY=80,
// FAKE_CUDA_FAIL=cuInit=100,cuMemAlloc_v2=2 (from the first call on), FAKE_CUDA_RECORD=0 (see SetRecording).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jit/driver/cuda_types.h"

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

namespace trivet::fake_cuda {

// A launch, as the driver was asked for it.
struct Launch {
  std::string kernel;
  int device = 0;  // of the function's context
  std::array<unsigned int, 3> grid{};
  std::array<unsigned int, 3> block{};
  std::array<unsigned int, 3> cluster{1, 1, 1};
  unsigned int shared_bytes = 0;
  jit::cuda::Stream stream = nullptr;
  bool is_captured = false;                  // recorded into a graph, not run
  std::vector<std::vector<uint8_t>> params;  // the bytes of each

  template <typename T>
  T Param(size_t i) const {
    T value;
    __builtin_memcpy(&value, params[i].data(), sizeof value);
    return value;
  }
};

// What cuFuncGetAttribute says of a kernel.
struct KernelFacts {
  int registers = 32;
  int local_bytes = 0;
  int static_shared_bytes = 0;
  int max_threads_per_cta = 1024;
};

// Forgets everything that the functions below set, all launches and counts. Contexts, modules and memory stay.
FAKE_CUDA_EXPORT void Reset();

// From the next call of `symbol` on (after `skip` more), the next `times` fail with `result`.
FAKE_CUDA_EXPORT void Fail(const char* symbol, jit::cuda::Result result, int times = 1, int skip = 0);
// How often `symbol` was called since Reset.
FAKE_CUDA_EXPORT int CallCount(const char* symbol);

FAKE_CUDA_EXPORT void SetKernelFacts(const std::string& kernel, const KernelFacts& facts);
// Runs at each launch of the kernel.
FAKE_CUDA_EXPORT void SetKernelBody(const std::string& kernel, std::function<void(const Launch&)> body);
// A kernel's fault: its next synchronisation, and every later call in the context, fails with `result`.
FAKE_CUDA_EXPORT void FaultAtNextSynchronisation(jit::cuda::Result result);

FAKE_CUDA_EXPORT std::vector<Launch> Launches();
// Without it launches are neither recorded nor run, and cost nothing: for measuring what comes before.
FAKE_CUDA_EXPORT void SetRecording(bool is_recording);

FAKE_CUDA_EXPORT void BeginCapture(jit::cuda::Stream stream, jit::cuda::CaptureMode mode);
// False if something that is not allowed was done meanwhile.
FAKE_CUDA_EXPORT bool EndCapture(jit::cuda::Stream stream);

// Bytes that cuMemAlloc gave and cuMemFree did not take back.
FAKE_CUDA_EXPORT int64_t AllocatedBytes();
// A context of `device` that is not the primary one.
FAKE_CUDA_EXPORT jit::cuda::Context CreateContext(int device);

}  // namespace trivet::fake_cuda
