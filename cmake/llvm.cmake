# Finds LLVM 22 and makes trivet_llvm, which jit/lowering, jit/target and jit/emulator link, and nobody else.
#
# Linked statically and hidden: PyTorch and Triton bring LLVMs of their own into the same process.

include_guard(GLOBAL)

set(TRIVET_GPU "AUTO" CACHE STRING "GPU tiers: ON, OFF, or AUTO for when LLVM 22 is found")
set(TRIVET_HAS_LLVM OFF)
if(NOT TRIVET_GPU STREQUAL "OFF")
  # LLVM's archives want zstd; the library itself is enough where its package for development is not installed.
  if(NOT TARGET zstd::libzstd_shared)
    find_library(TRIVET_ZSTD NAMES zstd libzstd.so.1)
    if(TRIVET_ZSTD)
      add_library(zstd::libzstd_shared SHARED IMPORTED)
      set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION "${TRIVET_ZSTD}")
    endif()
  endif()
  # LLVM accepts only its own major.minor; the releases of LLVM 22 are 22.1.x.
  find_package(LLVM 22.1 CONFIG QUIET HINTS /usr/lib/llvm-22/lib/cmake/llvm)
  if(LLVM_FOUND)
    set(TRIVET_HAS_LLVM ON)
  elseif(TRIVET_GPU STREQUAL "ON")
    message(FATAL_ERROR "TRIVET_GPU=ON needs LLVM 22 with headers (Debian: llvm-22-dev).")
  else()
    message(STATUS "No GPU tiers: LLVM 22 is missing (Debian: llvm-22-dev).")
  endif()
endif()

if(TRIVET_HAS_LLVM)
  add_library(trivet_llvm INTERFACE)
  target_include_directories(trivet_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(trivet_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
  llvm_map_components_to_libnames(trivet_llvm_libraries
    core irreader bitreader linker passes target nvptxcodegen nvptxdesc nvptxinfo)
  target_link_libraries(trivet_llvm INTERFACE ${trivet_llvm_libraries})
  # The emulator compiles for this machine's processor; only tests link it.
  add_library(trivet_llvm_host INTERFACE)
  llvm_map_components_to_libnames(trivet_llvm_host_libraries orcjit native)
  target_link_libraries(trivet_llvm_host INTERFACE trivet_llvm ${trivet_llvm_host_libraries})
endif()
