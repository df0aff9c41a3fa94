#include "tests/unit/fragments/fragment_kernels.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trivet::jit {
namespace {

// The frame of a kernel with three pointers, which are in %rd0 to %rd2, and the thread in %r0.
std::string Kernel(const std::string& body) {
  return absl::StrCat(R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry )",
                      kFragmentKernel, R"((.param .u64 p0, .param .u64 p1, .param .u64 p2) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  .reg .b32 %a<64>, %b<64>, %d<256>;
  .reg .f64 %fa, %fb, %fd<2>;
  ld.param.u64 %rd0, [p0];
  ld.param.u64 %rd1, [p1];
  ld.param.u64 %rd2, [p2];
  mov.u32 %r0, %tid.x;
)",
                      body, "  ret;\n}\n");
}

// "{%a4, %a5}".
std::string Registers(const char* name, int first, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(name, first + i));
  return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

// Puts the address of the thread's words in `base` into %rd8, each thread having `words` of them.
std::string ThreadAddress(const char* base, int words) {
  return absl::StrCat("  mul.wide.u32 %rd8, %r0, ", 4 * words, ";\n  add.u64 %rd8, %rd8, ", base, ";\n");
}

std::string LoadWords(const char* base, const char* name, int words) {
  std::string out = ThreadAddress(base, words);
  for (int i = 0; i < words; ++i) absl::StrAppend(&out, "  ld.global.b32 ", name, i, ", [%rd8+", 4 * i, "];\n");
  return out;
}

std::string StoreWords(const char* base, const char* name, int words) {
  std::string out = ThreadAddress(base, words);
  for (int i = 0; i < words; ++i) absl::StrAppend(&out, "  st.global.b32 [%rd8+", 4 * i, "], ", name, i, ";\n");
  return out;
}

std::string Zeros(int words) {
  std::string out;
  for (int i = 0; i < words; ++i) absl::StrAppend(&out, "  mov.b32 %d", i, ", 0;\n");
  return out;
}

// All threads copy `bytes`, a multiple of 16, from `base` to memory + `to`.
std::string CopyToShared(const char* base, int64_t to, int64_t bytes, int threads, const char* label) {
  return absl::StrCat("  shl.b32 %r1, %r0, 4;\n", label, ":\n  setp.ge.u32 %p0, %r1, ", bytes, ";\n  @%p0 bra ", label,
                      "_end;\n  cvt.u64.u32 %rd8, %r1;\n  add.u64 %rd8, %rd8, ", base,
                      ";\n  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd8];\n  mov.u32 %r2, memory;\n  add.u32 %r2, "
                      "%r2, %r1;\n  st.shared.v4.b32 [%r2+",
                      to, "], {%r4, %r5, %r6, %r7};\n  add.u32 %r1, %r1, ", 16 * threads, ";\n  bra ", label, ";\n",
                      label, "_end:\n");
}

// A matrix or vector access of one group at the thread's address %r3; `%a` holds its words.
std::string GroupAccess(const ScratchAccess& access, const ScratchAccess::Group& group, bool is_load) {
  std::string out = absl::StrCat("  xor.b32 %r4, %r3, ", group.xored, ";\n  add.u32 %r4, %r4, %r2;\n");
  const int words = access.vector_elements / 2;
  std::string mnemonic, data = Registers("%a", 0, words);
  if (access.instruction == ScratchAccess::Instruction::kVector) {
    const std::string type = access.vector_elements == 1 ? ".b16"
                             : words == 1                ? ".b32"
                                                         : absl::StrCat(".v", words, ".b32");
    mnemonic = absl::StrCat(is_load ? "ld" : "st", ".shared", type);
    if (words == 1) data = "%a0";
  } else {
    const bool is_transposed = access.instruction == ScratchAccess::Instruction::kMatrixTransposed;
    mnemonic = absl::StrCat(is_load ? "ld" : "st", "matrix.sync.aligned.m8n8.x", words, is_transposed ? ".trans" : "",
                            ".shared.b16");
  }
  const std::string address = absl::StrCat("[%r4+", group.added, "]");
  absl::StrAppend(&out, "  ", mnemonic, " ",
                  is_load ? absl::StrCat(data, ", ", address) : absl::StrCat(address, ", ", data), ";\n");
  return out;
}

std::string GroupWords(const ScratchAccess& access, size_t group, size_t groups, const char* base, bool is_load) {
  const int words = access.vector_elements / 2;
  std::string out = ThreadAddress(base, words * static_cast<int>(groups));
  for (int i = 0; i < words; ++i) {
    const std::string address = absl::StrCat("[%rd8+", 4 * (static_cast<int>(group) * words + i), "]");
    absl::StrAppend(&out,
                    is_load ? absl::StrCat("  ld.global.b32 %a", i, ", ", address)
                            : absl::StrCat("  st.global.b32 ", address, ", %a", i),
                    ";\n");
  }
  return out;
}

}  // namespace

std::string MmaKernel(MmaKind kind, const std::string& types, int a_words, int b_words, int d_words) {
  const MmaSize size = InstructionSize(kind);
  const std::string name = absl::StrCat("mma.sync.aligned.m", size.m, "n", size.n, "k", size.k, ".row.col.", types);
  if (kind == MmaKind::kDouble) {
    return Kernel(
        absl::StrCat(ThreadAddress("%rd0", 2), "  ld.global.f64 %fa, [%rd8];\n", ThreadAddress("%rd1", 2),
                     "  ld.global.f64 %fb, [%rd8];\n  mov.f64 %fd0, 0d0000000000000000;\n  mov.f64 %fd1, %fd0;\n  ",
                     name, " {%fd0, %fd1}, {%fa}, {%fb}, {%fd0, %fd1};\n", ThreadAddress("%rd2", 4),
                     "  st.global.f64 [%rd8], %fd0;\n  st.global.f64 [%rd8+8], %fd1;\n"));
  }
  const std::string d = Registers("%d", 0, d_words);
  return Kernel(absl::StrCat(LoadWords("%rd0", "%a", a_words), LoadWords("%rd1", "%b", b_words), Zeros(d_words), "  ",
                             name, " ", d, ", ", Registers("%a", 0, a_words), ", ", Registers("%b", 0, b_words), ", ",
                             d, ";\n", StoreWords("%rd2", "%d", d_words)));
}

std::string WgmmaKernel(const WgmmaSharedLayout& a, const WgmmaSharedLayout& b, const std::string& types, int n,
                        int k) {
  const int64_t b_start = (a.bytes + 1023) / 1024 * 1024;
  std::string body = absl::StrCat(CopyToShared("%rd0", 0, a.bytes, 128, "copy_a"),
                                  CopyToShared("%rd1", b_start, b.bytes, 128, "copy_b"), Zeros(n / 2),
                                  "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  mov.u32 %r2, memory;\n"
                                  "  setp.eq.u32 %p1, 0, 0;\n  wgmma.fence.sync.aligned;\n");
  // Address bits 4 to 17 of the operand's part, and the constants.
  const auto descriptor = [&](const char* to, int64_t offset, const WgmmaSharedLayout& layout) {
    absl::StrAppend(&body, "  add.u32 %r3, %r2, ", offset, ";\n  and.b32 %r3, %r3, 262143;\n  shr.u32 %r3, %r3, 4;\n",
                    "  cvt.u64.u32 ", to, ", %r3;\n  or.b64 ", to, ", ", to, ", ", layout.DescriptorBits(), ";\n");
  };
  const bool has_transposes = a.element_bytes == 2;
  for (int step = 0; step < a.k; step += k) {
    descriptor("%rd4", a.OffsetOf(0, step), a);
    descriptor("%rd5", b_start + b.OffsetOf(0, step), b);
    absl::StrAppend(&body, "  wgmma.mma_async.sync.aligned.m64n", n, "k", k, ".", types, " ", Registers("%d", 0, n / 2),
                    ", %rd4, %rd5, %p1, 1, 1",
                    has_transposes ? absl::StrCat(", ", a.is_transposed ? 1 : 0, ", ", b.is_transposed ? 1 : 0) : "",
                    ";\n");
  }
  absl::StrAppend(&body, "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n",
                  StoreWords("%rd2", "%d", n / 2));
  return Kernel(body);
}

std::string ConversionKernel(const SharedPlan& plan) {
  std::string body = "  mov.u32 %r2, memory;\n";
  absl::StrAppend(&body, LoadWords("%rd2", "%b", 2), "  mov.b32 %r3, %b0;\n");
  const std::vector<ScratchAccess::Group>& stores = plan.store.rounds[0];
  for (size_t g = 0; g < stores.size(); ++g) {
    absl::StrAppend(&body, GroupWords(plan.store, g, stores.size(), "%rd0", true),
                    GroupAccess(plan.store, stores[g], false));
  }
  absl::StrAppend(&body, "  bar.sync 0;\n  mov.b32 %r3, %b1;\n");
  const std::vector<ScratchAccess::Group>& loads = plan.load.rounds[0];
  for (size_t g = 0; g < loads.size(); ++g) {
    absl::StrAppend(&body, GroupAccess(plan.load, loads[g], true),
                    GroupWords(plan.load, g, loads.size(), "%rd1", false));
  }
  return Kernel(body);
}

}  // namespace trivet::jit
