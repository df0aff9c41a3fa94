// mma.sync, ldmatrix and stmatrix against plain products and copies. Where elements lie is written here as the PTX
// ISA's tables have it ("Matrix fragments for mma.m16n8k16 ..."), a formula per shape; the emulator has one for all.
#include <cmath>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "emulator_fixture.h"
#include "gtest/gtest.h"
#include "vm/numerics/float_formats.h"

namespace trivet::jit {
namespace {

struct Place {
  int row, column;
};
// Where element i of a fragment of a lane in group g, number t in it, lies.
using Fragment = std::function<Place(int g, int t, int i)>;

// What the registers of a fragment hold.
struct Format {
  const char* register_type;  // in LLVM
  int bits;                   // of an element
  std::function<uint64_t(double)> encode;
  std::function<double(uint64_t)> decode;
  std::function<double(std::mt19937&)> random;  // a value that the format has
};

double Small(std::mt19937& random) { return std::uniform_int_distribution<int>(-16, 16)(random) / 8.0; }

Format Narrow(const char* type, vm::FloatFormat format) {
  const int shift = format == vm::FloatFormat::kTF32 ? 13 : 0;
  return {type, vm::InfoOf(format).bits + shift,
          [=](double x) {
            return uint64_t{vm::EncodeFloat(format, x, vm::Rounding::kNearestEven, vm::Overflow::kSaturate)} << shift;
          },
          [=](uint64_t code) { return vm::DecodeFloat(format, static_cast<uint32_t>(code >> shift)); }, Small};
}
Format F32() {
  return {"float", 32, [](double x) { return uint64_t{std::bit_cast<uint32_t>(static_cast<float>(x))}; },
          [](uint64_t bits) { return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))); }, Small};
}
Format F64() {
  return {"double", 64, [](double x) { return std::bit_cast<uint64_t>(x); },
          [](uint64_t bits) { return std::bit_cast<double>(bits); }, Small};
}
Format Integer(int bits, bool is_signed) {
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  return {"i32", bits, [](double x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); },
          [=](uint64_t code) {
            const auto value = static_cast<double>(code & ((uint64_t{1} << bits) - 1));
            return value > high ? value - std::ldexp(1.0, bits) : value;
          },
          [=](std::mt19937& random) {
            return static_cast<double>(
                std::uniform_int_distribution<int64_t>(std::max<int64_t>(static_cast<int64_t>(low), -1000),
                                                       std::min<int64_t>(static_cast<int64_t>(high), 1000))(random));
          }};
}

struct MmaCase {
  const char* name;  // of the intrinsic, after "mma."
  int m, n, k;
  Format a, b, c;
  Fragment place_a, place_b, place_c;
};

// The tables.
const Fragment kC = [](int g, int t, int i) { return Place{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
const Fragment kA16 = [](int g, int t, int i) {  // 16 bits, k16
  return Place{(i >= 0 && i < 2) || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
};
const Fragment kB16 = [](int g, int t, int i) { return Place{i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g}; };
const Fragment kA16Short = [](int g, int t, int i) { return Place{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };  // k8
const Fragment kATf32 = [](int g, int t, int i) { return Place{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4}; };
const Fragment kBTf32 = [](int g, int t, int i) { return Place{i == 0 ? t : t + 4, g}; };
const Fragment kA8 = [](int g, int t, int i) {  // 8 bits, k32
  return Place{i < 4 || (i >= 8 && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
};
const Fragment kB8 = [](int g, int t, int i) { return Place{i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g}; };
const Fragment kA8Short = [](int g, int t, int i) { return Place{i < 4 ? g : g + 8, t * 4 + (i & 3)}; };  // k16
const Fragment kA64 = [](int g, int t, int) { return Place{g, t}; };
const Fragment kB64 = [](int g, int t, int) { return Place{t, g}; };

std::vector<MmaCase> Cases() {
  using vm::FloatFormat;
  const Format f16 = Narrow("<2 x half>", FloatFormat::kF16);
  const Format bf16 = Narrow("i32", FloatFormat::kBF16);
  const Format tf32 = Narrow("i32", FloatFormat::kTF32);
  const Format e4m3 = Narrow("i32", FloatFormat::kF8E4M3);
  const Format e5m2 = Narrow("i32", FloatFormat::kF8E5M2);
  const Format s8 = Integer(8, true), u8 = Integer(8, false), s32 = Integer(32, true);
  return {
      {"m16n8k16.row.col.f32.f32", 16, 8, 16, f16, f16, F32(), kA16, kB16, kC},
      {"m16n8k16.row.col.f16.f16", 16, 8, 16, f16, f16, f16, kA16, kB16, kC},
      {"m16n8k16.row.col.bf16", 16, 8, 16, bf16, bf16, F32(), kA16, kB16, kC},
      {"m16n8k8.row.col.f32.f32", 16, 8, 8, f16, f16, F32(), kA16Short, kB16, kC},
      {"m16n8k8.row.col.tf32", 16, 8, 8, tf32, tf32, F32(), kATf32, kBTf32, kC},
      {"m16n8k4.row.col.tf32", 16, 8, 4, tf32, tf32, F32(), kATf32, kBTf32, kC},
      {"m16n8k32.row.col.s8", 16, 8, 32, s8, s8, s32, kA8, kB8, kC},
      {"m16n8k32.row.col.u8.s8", 16, 8, 32, u8, s8, s32, kA8, kB8, kC},
      {"m16n8k16.row.col.s8", 16, 8, 16, s8, s8, s32, kA8Short, kB8, kC},
      {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, e4m3, e4m3, F32(), kA8, kB8, kC},
      {"m16n8k32.row.col.f32.e5m2.e4m3.f32", 16, 8, 32, e5m2, e4m3, F32(), kA8, kB8, kC},
      {"m8n8k4.row.col.f64", 8, 8, 4, F64(), F64(), F64(), kA64, kB64, kC},
  };
}

// The registers of a fragment, lane after lane, 8 bytes each.
struct Registers {
  int per_lane;
  std::vector<uint64_t> bits;
};

int RegisterBits(const Format& format) { return format.bits == 64 ? 64 : 32; }

Registers Pack(const std::vector<std::vector<double>>& matrix, const Format& format, const Fragment& place) {
  const int elements = static_cast<int>(matrix.size() * matrix[0].size()) / 32;
  const int in_register = RegisterBits(format) / format.bits;
  Registers out{elements / in_register, {}};
  out.bits.resize(static_cast<size_t>(32 * out.per_lane));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < elements; ++i) {
      const Place p = place(lane / 4, lane % 4, i);
      const uint64_t mask = format.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << format.bits) - 1;
      const uint64_t code = format.encode(matrix[static_cast<size_t>(p.row)][static_cast<size_t>(p.column)]) & mask;
      out.bits[static_cast<size_t>(lane * out.per_lane + i / in_register)] |= code << (i % in_register * format.bits);
    }
  }
  return out;
}

std::vector<std::vector<double>> RandomMatrix(int rows, int columns, const Format& format, std::mt19937& random) {
  std::vector<std::vector<double>> matrix(static_cast<size_t>(rows), std::vector<double>(static_cast<size_t>(columns)));
  for (auto& row : matrix) {
    for (double& value : row) value = format.decode(format.encode(format.random(random)));  // e5m2 lacks some
  }
  return matrix;
}

// A kernel that loads all registers of its lane, calls the intrinsic and stores the results over those of C.
std::string MmaKernel(const MmaCase& test, const std::array<int, 3>& counts) {
  std::string text =
      "define ptx_kernel void @kernel(ptr addrspace(1) %m0, ptr addrspace(1) %m1, ptr addrspace(1) %m2) {\n"
      "  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  const Format* formats[] = {&test.a, &test.b, &test.c};
  std::vector<std::string> operands;
  for (int f = 0; f < 3; ++f) {
    for (int r = 0; r < counts[static_cast<size_t>(f)]; ++r) {
      const std::string id = absl::StrCat(f, "_", r);
      absl::StrAppend(&text, "  %i", id, " = mul i32 %lane, ", counts[static_cast<size_t>(f)], "\n  %j", id,
                      " = add i32 %i", id, ", ", r, "\n  %p", id, " = getelementptr i64, ptr addrspace(1) %m", f,
                      ", i32 %j", id, "\n  %v", id, " = load ", formats[f]->register_type, ", ptr addrspace(1) %p", id,
                      "\n");
      operands.push_back(absl::StrCat(formats[f]->register_type, " %v", id));
    }
  }
  const std::vector<std::string> results(static_cast<size_t>(counts[2]), test.c.register_type);
  absl::StrAppend(&text, "  %d = call {", absl::StrJoin(results, ", "), "} @llvm.nvvm.mma.", test.name, "(",
                  absl::StrJoin(operands, ", "), ")\n");
  for (int r = 0; r < counts[2]; ++r) {
    absl::StrAppend(&text, "  %d", r, " = extractvalue {", absl::StrJoin(results, ", "), "} %d, ", r, "\n  store ",
                    test.c.register_type, " %d", r, ", ptr addrspace(1) %p2_", r, "\n");
  }
  return text + "  ret void\n}\n";
}

TEST(EmulatedMma, MultipliesAsAPlainProduct) {
  std::mt19937 random(1);
  for (const MmaCase& test : Cases()) {
    SCOPED_TRACE(test.name);
    const auto a = RandomMatrix(test.m, test.k, test.a, random);
    const auto b = RandomMatrix(test.k, test.n, test.b, random);
    const auto c = RandomMatrix(test.m, test.n, test.c, random);
    Registers ra = Pack(a, test.a, test.place_a);
    Registers rb = Pack(b, test.b, test.place_b);
    Registers rc = Pack(c, test.c, test.place_c);
    EmulatedLaunch launch;
    launch.arguments = {AddressOf(ra.bits), AddressOf(rb.bits), AddressOf(rc.bits)};
    ASSERT_EQ(RunText(MmaKernel(test, {ra.per_lane, rb.per_lane, rc.per_lane}), launch), absl::OkStatus());
    auto product = c;
    for (size_t row = 0; row < product.size(); ++row) {
      for (size_t column = 0; column < product[row].size(); ++column) {
        for (size_t k = 0; k < b.size(); ++k) product[row][column] += a[row][k] * b[k][column];
      }
    }
    // Small multiples of powers of two: no sum is rounded, except in f16, where all tiers round once.
    EXPECT_EQ(rc.bits, Pack(product, test.c, test.place_c).bits);
  }
}

TEST(EmulatedMma, Tf32OperandsLoseTheirLowBits) {
  const MmaCase test = Cases()[4];
  std::vector<uint64_t> a(128), b(64), c(128);
  for (uint64_t& bits : a) bits = std::bit_cast<uint32_t>(1.0f) + 0x1fff;
  for (uint64_t& bits : b) bits = std::bit_cast<uint32_t>(1.0f);
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(a), AddressOf(b), AddressOf(c)};
  ASSERT_EQ(RunText(MmaKernel(test, {4, 2, 4}), launch), absl::OkStatus());
  EXPECT_EQ(c[5], std::bit_cast<uint32_t>(8.0f));
}

TEST(EmulatedMma, IntegersSaturateOnlyWhenAsked) {
  for (const bool saturates : {false, true}) {
    MmaCase test = Cases()[6];
    test.name = saturates ? "m16n8k32.row.col.satfinite.s8" : "m16n8k32.row.col.s8";
    std::vector<uint64_t> a(128, 0x01010101), b(64, 0x01010101), c(128, 0x7fffffff);
    EmulatedLaunch launch;
    launch.arguments = {AddressOf(a), AddressOf(b), AddressOf(c)};
    ASSERT_EQ(RunText(MmaKernel(test, {4, 2, 4}), launch), absl::OkStatus());
    EXPECT_EQ(c[0], saturates ? 0x7fffffffu : 0x8000001fu);
  }
}

// Copies 256 16-bit values from global to shared memory, `body` in between, and %r0... to global.
std::string MatrixCopyKernel(int count, bool transposed) {
  const std::string suffix = absl::StrCat("m8n8.x", count, transposed ? ".trans" : "", ".b16.p3");
  std::vector<std::string> types(static_cast<size_t>(count), "i32");
  const std::string result = count == 1 ? "i32" : "{" + absl::StrJoin(types, ", ") + "}";
  std::string text =
      absl::StrCat(R"(
@trivet_shared = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = getelementptr [8 x i16], ptr addrspace(1) %in, i32 %lane
  %shared_row = getelementptr [8 x i16], ptr addrspace(3) @trivet_shared, i32 %lane
  %values = load <4 x i32>, ptr addrspace(1) %row
  store <4 x i32> %values, ptr addrspace(3) %shared_row
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %d = call )",
                   result, " @llvm.nvvm.ldmatrix.sync.aligned.", suffix, "(ptr addrspace(3) %shared_row)\n");
  for (int r = 0; r < count; ++r) {
    if (count == 1) {
      absl::StrAppend(&text, "  %d0 = add i32 %d, 0\n");
    } else {
      absl::StrAppend(&text, "  %d", r, " = extractvalue ", result, " %d, ", r, "\n");
    }
    absl::StrAppend(&text, "  %i", r, " = mul i32 %lane, ", count, "\n  %j", r, " = add i32 %i", r, ", ", r, "\n  %p",
                    r, " = getelementptr i32, ptr addrspace(1) %out, i32 %j", r, "\n  store i32 %d", r,
                    ", ptr addrspace(1) %p", r, "\n");
  }
  // And back: stmatrix, then each lane writes its row over the input.
  std::vector<std::string> operands = {"ptr addrspace(3) %shared_row"};
  for (int r = 0; r < count; ++r) operands.push_back(absl::StrCat("i32 %d", r));
  absl::StrAppend(&text, "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n  call void @llvm.nvvm.stmatrix.sync.aligned.",
                  suffix, "(", absl::StrJoin(operands, ", "), R"()
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %back = load <4 x i32>, ptr addrspace(3) %shared_row
  store <4 x i32> %back, ptr addrspace(1) %row
  ret void
})");
  return text;
}

TEST(EmulatedMatrixCopy, GivesEachLaneItsPairAndTakesItBack) {
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(absl::StrCat("x", count, transposed ? ".trans" : ""));
      std::vector<uint16_t> in(256), out(64 * static_cast<size_t>(count));
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint16_t>(i);
      EmulatedLaunch launch;
      launch.shared_bytes = 512;
      launch.arguments = {AddressOf(in), AddressOf(out)};
      ASSERT_EQ(RunText(MatrixCopyKernel(count, transposed), launch), absl::OkStatus());
      for (size_t lane = 0; lane < 32; ++lane) {
        for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
          for (size_t e = 0; e < 2; ++e) {
            const size_t row = lane / 4, column = lane % 4 * 2 + e;
            EXPECT_EQ(out[(lane * static_cast<size_t>(count) + r) * 2 + e],
                      r * 64 + (transposed ? column * 8 + row : row * 8 + column));
          }
        }
      }
      for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(in[i], i);
    }
  }
}

}  // namespace
}  // namespace trivet::jit
