# Finds abseil, and names the parts of it that vm/base offers to everyone.

include_guard(GLOBAL)

find_package(Threads REQUIRED)
find_package(absl REQUIRED)

set(TRIVET_ABSL
  absl::statusor absl::status absl::flat_hash_map absl::flat_hash_set absl::inlined_vector absl::synchronization
  absl::time absl::str_format absl::strings absl::span absl::core_headers Threads::Threads)
