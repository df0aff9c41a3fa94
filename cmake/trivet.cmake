# How Trivet's own code is compiled, and the functions that make its libraries, programs and tests.

include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# In a bundle (cmake/gpu-bundle.sh) the core is one shared library, and what it exports is said by its version script.
option(TRIVET_CORE_SHARED "Build trivet_core, a shared library that the Python extension links" OFF)
if(NOT TRIVET_CORE_SHARED)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(TRIVET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TRIVET_CCACHE_PROGRAM ccache)
  if(TRIVET_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TRIVET_CCACHE_PROGRAM}")
  endif()
endif()

# Numerics first: mul and add stay two roundings, NaN and signed zeros keep their meaning. The two -fno- flags only drop
# errno and the floating-point exception flags, which nobody here reads; they let the compiler vectorise.
set(TRIVET_NUMERIC_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(TRIVET_WARNING_FLAGS -Wall -Wextra -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wrestrict: false alarms on std::string's operator+ (GCC bug 105651). -Wpsabi: notes on vector types, inside one library.
  # -Wmaybe-uninitialized: false alarms on std::variant of an inlined vector (GCC bug 80635 and its kin).
  list(APPEND TRIVET_WARNING_FLAGS -Wno-restrict -Wno-psabi -Wno-maybe-uninitialized)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # -Wpass-failed: `#pragma clang loop` and `omp simd` ask for what -O1 and sanitizers can't do.
  list(APPEND TRIVET_WARNING_FLAGS -Wno-pass-failed)
endif()
set(TRIVET_CPU_FLAGS "")
if(TRIVET_CPU)
  set(TRIVET_CPU_FLAGS "-march=${TRIVET_CPU}")
endif()
set(TRIVET_SANITIZE_FLAGS "")
if(TRIVET_SANITIZE)
  set(TRIVET_SANITIZE_FLAGS -fsanitize=${TRIVET_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
endif()

# Applies the flags above to a target of ours.
function(trivet_compile_as_ours target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE
    ${TRIVET_WARNING_FLAGS} ${TRIVET_NUMERIC_FLAGS} ${TRIVET_CPU_FLAGS} ${TRIVET_SANITIZE_FLAGS})
  target_link_options(${target} PRIVATE ${TRIVET_SANITIZE_FLAGS})
endfunction()

# trivet_library(NAME dep...): a static library of this folder's *.cc, which may include what the deps offer.
#
# An empty folder makes an INTERFACE library of the same name, so that others can already link to it. Compiled without
# exceptions: errors are absl::Status (STYLE.md section 6).
function(trivet_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARGN})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  trivet_compile_as_ours(${name})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_link_libraries(${name} PUBLIC ${ARGN})
  if(TRIVET_FUZZ)
    trivet_cover(${sources})
  endif()
endfunction()

# trivet_cover(file...): tells fuzzers which code an input reaches. Not in loops over elements, where it would tell little
# and cost much.
function(trivet_cover)
  set(files ${ARGN})
  list(FILTER files EXCLUDE REGEX "/numerics/|/exec_[a-z_]*[.]cc$")
  set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
endfunction()

# trivet_optimise(NAME): -O3 for a library whose loops are the product. Wins over the build type's -O2, leaves -O0 and
# -O1 builds as they are.
function(trivet_optimise name)
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_compile_options(${name} PRIVATE "$<$<CONFIG:Release,RelWithDebInfo>:-O3>")
  endif()
endfunction()

# trivet_warn_conversions(NAME file...): -Wconversion for these files of the library, or for all of it: where numbers
# come from outside or serve everyone, none is narrowed in silence.
function(trivet_warn_conversions name)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  elseif(ARGN)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -Wconversion)
  else()
    target_compile_options(${name} PRIVATE -Wconversion)
  endif()
endfunction()

# trivet_test(NAME dep...): one GoogleTest program of all *.cc under tests/unit/NAME and tests/unit/vm/NAME; nothing
# when there are none. Its tests carry the label NAME.
function(trivet_test name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/tests/unit/${name}/*.cc" "${PROJECT_SOURCE_DIR}/tests/unit/vm/${name}/*.cc")
  if(NOT sources)
    return()
  endif()
  set(target trivet_${name}_tests)
  add_executable(${target} ${sources})
  trivet_compile_as_ours(${target})
  # The libraries are what must be fast; tests compile in half the time without -O2.
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1>")
  # Tests find their data files (golden modules, invalid inputs) from here.
  target_compile_definitions(${target} PRIVATE TRIVET_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${ARGN} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${target} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${name} TIMEOUT 300)
  add_dependencies(trivet_tests ${target})
endfunction()
