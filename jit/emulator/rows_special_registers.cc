// Special registers (PTX ISA, "Special Registers").
#include <chrono>

#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"

namespace trivet::jit {

namespace {

constexpr char kAxes[] = "xyz";

size_t Axis(const Call& call) { return static_cast<size_t>(call.site.name.back() - kAxes[0]); }

void Tid(const Call& call) { call.out[0] = Axis(call) == 0 ? static_cast<uint64_t>(call.cta.thread()) : 0; }
void Ntid(const Call& call) {
  call.out[0] = Axis(call) == 0 ? static_cast<uint64_t>(call.cta.launch().num_threads) : 1;
}
void Ctaid(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.program_id()[Axis(call)]); }
void Nctaid(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.launch().grid[Axis(call)]); }
void Laneid(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.lane()); }
void Warpid(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.warp()); }
void Nwarpid(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.launch().num_threads / 32); }
void Warpsize(const Call& call) { call.out[0] = 32; }
void Zero(const Call& call) { call.out[0] = 0; }
void One(const Call& call) { call.out[0] = 1; }
void SharedSize(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.shared_bytes()); }
void DynamicSharedSize(const Call& call) { call.out[0] = static_cast<uint64_t>(call.cta.launch().shared_bytes); }

// eq, le, lt, ge, gt: the lanes that stand so to this one.
void Lanemask(const Call& call) {
  const uint64_t self = uint64_t{1} << call.cta.lane();
  const uint64_t below = self - 1;
  const uint64_t masks[] = {self, below | self, below, ~below, ~(below | self)};
  call.out[0] = static_cast<uint32_t>(masks[call.site.choice[0]]);
}

void Nanoseconds(const Call& call) {
  call.out[0] = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

constexpr Row kRows[] = {
    {"read.ptx.sreg.tid.{x|y|z}", Tid},
    {"read.ptx.sreg.ntid.{x|y|z}", Ntid},
    {"read.ptx.sreg.ctaid.{x|y|z}", Ctaid},
    {"read.ptx.sreg.nctaid.{x|y|z}", Nctaid},
    {"read.ptx.sreg.laneid", Laneid},
    {"read.ptx.sreg.warpid", Warpid},
    {"read.ptx.sreg.nwarpid", Nwarpid},
    {"read.ptx.sreg.warpsize", Warpsize},
    {"read.ptx.sreg.lanemask.{eq|le|lt|ge|gt}", Lanemask},
    {"read.ptx.sreg.{clock|clock64|globaltimer|globaltimer.lo}", Nanoseconds},
    {"read.ptx.sreg.{smid|gridid}", Zero},
    {"read.ptx.sreg.nsmid", One},
    // Clusters of one program.
    {"read.ptx.sreg.clusterid.{x|y|z}", Ctaid},
    {"read.ptx.sreg.nclusterid.{x|y|z}", Nctaid},
    {"read.ptx.sreg.cluster.{ctaid|nctaid}.{x|y|z}",
     [](const Call& call) { call.out[0] = static_cast<uint64_t>(call.site.choice[0]); }},
    {"read.ptx.sreg.cluster.ctarank", Zero},
    {"read.ptx.sreg.cluster.nctarank", One},
    {"read.ptx.sreg.{total|aggr}_smem_size", SharedSize},
    {"read.ptx.sreg.dynamic_smem_size", DynamicSharedSize},
};

}  // namespace

std::span<const Row> SpecialRegisterRows() { return kRows; }

}  // namespace trivet::jit
