// Memory beyond plain loads and stores: asynchronous copies, the masked accesses of jit/lowering/nvptx/inline_ptx.h,
// hints.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"

namespace trivet::jit {

namespace {

// cp.async.{ca|cg}.shared.global.{4|8|16}{|.s}(shared destination, global source[, bytes of the source]); the bytes
// after those of the source become zero.
void CpAsync(const Call& call) {
  constexpr int kSizes[] = {4, 8, 16};
  const int bytes = kSizes[call.site.choice[1]];
  const int source_bytes = call.site.choice[2] == 1 ? FromSlot<int32_t>(call.in[2]) : bytes;
  if (source_bytes < 0 || source_bytes > bytes) {
    return call.cta.Fail(absl::StatusCode::kInvalidArgument, call.site,
                         absl::StrCat("a source of ", source_bytes, " bytes for a copy of ", bytes));
  }
  call.cta.StartCopy(call.site, {call.in[0], call.in[1], bytes, source_bytes});
}

// masked_load.vN.bW(mask, pointer, N others): N words of W bits, or the others. Words of 8 bits come in 16.
void MaskedLoad(const Call& call) {
  const int count = call.site.choice[0];
  const int word_bytes = call.site.choice[1] / 8;
  const bool mask = (call.in[0] & 1) != 0;
  const uint64_t address = call.in[1];
  if (mask && !call.cta.CheckAccess(call.site, call.cta.thread(), SharedAccess::kLoad, address, count * word_bytes)) {
    return;
  }
  for (int i = 0; i < count; ++i) {
    call.out[i] = call.in[2 + i];
    if (!mask) continue;
    call.out[i] = 0;
    std::memcpy(&call.out[i], reinterpret_cast<const char*>(address) + i * word_bytes, static_cast<size_t>(word_bytes));
  }
}

// masked_store.vN.bW(mask, pointer, N words)
void MaskedStore(const Call& call) {
  const int count = call.site.choice[0];
  const auto word_bytes = static_cast<size_t>(call.site.choice[1] / 8);
  if ((call.in[0] & 1) == 0) return;
  char words[32];
  const size_t bytes = static_cast<size_t>(count) * word_bytes;
  if (bytes > sizeof(words)) return call.cta.Fail(absl::StatusCode::kUnimplemented, call.site, "too many bytes");
  for (int i = 0; i < count; ++i) std::memcpy(words + static_cast<size_t>(i) * word_bytes, &call.in[2 + i], word_bytes);
  if (!call.cta.CheckAccess(call.site, call.cta.thread(), SharedAccess::kStore, call.in[1], static_cast<int64_t>(bytes),
                            words)) {
    return;
  }
  std::memcpy(reinterpret_cast<void*>(call.in[1]), words, bytes);
}

void Nothing(const Call&) {}

constexpr Row kRows[] = {
    {"cp.async.{ca|cg}.shared.global.{4|8|16}{|.s}", CpAsync},
    {"cp.async.commit.group", [](const Call& call) { call.cta.CommitCopies(); }},
    {"cp.async.wait.group", [](const Call& call) { call.cta.WaitForCopies(call.site, FromSlot<int32_t>(call.in[0])); }},
    {"cp.async.wait.all", [](const Call& call) { call.cta.WaitForCopies(call.site, -1); }},
    {"/*masked_load.v#.b#~*/", MaskedLoad},
    {"/*masked_store.v#.b#~*/", MaskedStore},
    {"isspacep.shared{|.cluster}", [](const Call& call) { call.out[0] = call.cta.IsShared(call.in[0]) ? 1 : 0; }},
    {"isspacep.global", [](const Call& call) { call.out[0] = call.cta.IsShared(call.in[0]) ? 0 : 1; }},
    // Hints.
    {"prefetch~", Nothing},
    {"applypriority.~", Nothing},
    // What libdevice asks of the compiler: whether to flush subnormals, the architecture. Nothing is promised.
    {"{|__nvvm_}reflect", [](const Call& call) { call.out[0] = 0; }},
};

}  // namespace

std::span<const Row> MemoryRows() { return kRows; }

}  // namespace trivet::jit
