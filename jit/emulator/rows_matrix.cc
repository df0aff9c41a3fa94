// Matrix operations of a warp: mma.sync, ldmatrix, stmatrix.
//
// Who holds what (PTX ISA, "Warp-level matrix fragment"; all shapes are instances of one scheme). Lane l has group g =
// l / 4 and t = l % 4. A register of 32 bits has E elements of A or B (E = 1 for tf32 and f64, 2 for f16 and bf16, 4
// for 8 bits, 8 for 4 bits); M is 8 * H. Register r, element e:
//
//   A[row][k]   row = g + 8 * (r % H)    k = 4 * E * (r / H) + E * t + e
//   B[k][col]   k = 4 * E * r + E * t + e                      col = g
//   C[row][col] row = g + 8 * (r / 2)    col = 2 * t + r % 2   (32 or 64 bits an element)
//               row = g + 8 * r          col = 2 * t + e       (f16, two an register)
//
// Sums are made in f64 and rounded once: at least as exact as the hardware, which tests allow for by a tolerance.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"
#include "vm/numerics/float_formats.h"

namespace trivet::jit {

namespace {

constexpr uint32_t kWholeWarp = 0xffffffffu;

// --- mma --------------------------------------------------------------------------------------------------------

enum class Element : uint8_t { kF16, kBF16, kTF32, kF32, kF64, kE4M3, kE5M2, kS8, kU8, kS4, kU4, kS32 };

int BitsOf(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kBF16:
      return 16;
    case Element::kTF32:
    case Element::kF32:
    case Element::kS32:
      return 32;
    case Element::kF64:
      return 64;
    case Element::kE4M3:
    case Element::kE5M2:
    case Element::kS8:
    case Element::kU8:
      return 8;
    case Element::kS4:
    case Element::kU4:
      return 4;
  }
  return 0;
}

bool IsInteger(Element element) { return element >= Element::kS8; }

// Element `index` of a register. Integers of 8 and 4 bits and floats of all kinds are exact in a double.
double Decode(Element element, uint64_t bits, int index) {
  const int width = BitsOf(element);
  const uint64_t code = width == 64 ? bits : (bits >> (width * index)) & ((uint64_t{1} << width) - 1);
  const auto narrow = static_cast<uint32_t>(code);
  switch (element) {
    case Element::kF16:
      return vm::DecodeFloat(vm::FloatFormat::kF16, narrow);
    case Element::kBF16:
      return vm::DecodeFloat(vm::FloatFormat::kBF16, narrow);
    case Element::kTF32:
      return std::bit_cast<float>(narrow & ~uint32_t{0x1fff});  // the unit does not look at the low 13 bits
    case Element::kF32:
      return std::bit_cast<float>(narrow);
    case Element::kF64:
      return std::bit_cast<double>(code);
    case Element::kE4M3:
      return vm::DecodeFloat(vm::FloatFormat::kF8E4M3, narrow);
    case Element::kE5M2:
      return vm::DecodeFloat(vm::FloatFormat::kF8E5M2, narrow);
    case Element::kS8:
      return static_cast<int8_t>(narrow);
    case Element::kU8:
    case Element::kU4:
      return narrow;
    case Element::kS4:
      return static_cast<int32_t>(narrow << 28) >> 28;
    case Element::kS32:
      return static_cast<int32_t>(narrow);
  }
  return 0;
}

uint64_t Encode(Element element, double value) {
  switch (element) {
    case Element::kF16:
      return vm::EncodeFloat(vm::FloatFormat::kF16, value, vm::Rounding::kNearestEven, vm::Overflow::kInfinity);
    case Element::kF64:
      return std::bit_cast<uint64_t>(value);
    default:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
}

struct MmaShape {
  int m, n, k;
  Element a, b, c;
  bool saturates;
};

struct Position {
  int row, column;
};

int ElementsPerRegister(Element element) { return element == Element::kF64 ? 1 : 32 / BitsOf(element); }

Position PlaceInA(const MmaShape& shape, int lane, int reg, int e) {
  const int halves = shape.m / 8;
  const int elements = ElementsPerRegister(shape.a);
  return {lane / 4 + 8 * (reg % halves), 4 * elements * (reg / halves) + elements * (lane % 4) + e};
}

Position PlaceInB(const MmaShape& shape, int lane, int reg, int e) {
  const int elements = ElementsPerRegister(shape.b);
  return {4 * elements * reg + elements * (lane % 4) + e, lane / 4};
}

Position PlaceInC(const MmaShape& shape, int lane, int reg, int e) {
  if (shape.c == Element::kF16) return {lane / 4 + 8 * reg, 2 * (lane % 4) + e};
  return {lane / 4 + 8 * (reg / 2), 2 * (lane % 4) + reg % 2};
}

// Calls function(lane, slot, index in the register, position) for all elements of a fragment whose first register is
// in slot `first`; returns the slot after it.
template <typename Function>
size_t ForFragment(const MmaShape& shape, Element element, int rows, int columns, size_t first,
                   Position (*place)(const MmaShape&, int, int, int), Function&& function) {
  const int elements = ElementsPerRegister(element);
  const int registers = rows * columns / 32 / elements;
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < registers; ++reg) {
      for (int e = 0; e < elements; ++e) {
        function(static_cast<size_t>(lane), first + static_cast<size_t>(reg), e, place(shape, lane, reg, e));
      }
    }
  }
  return first + static_cast<size_t>(registers);
}

void Multiply(const WarpCall& all, const MmaShape& shape) {
  std::array<std::array<double, 128>, 16> a;
  std::array<std::array<double, 8>, 128> b;
  std::array<std::array<double, 8>, 16> c;
  const auto at = [](auto& matrix, Position p) -> double& {
    return matrix[static_cast<size_t>(p.row)][static_cast<size_t>(p.column)];
  };
  const auto read = [&](auto& matrix, Element element) {
    return [&all, &matrix, element, at](size_t lane, size_t slot, int e, Position p) {
      at(matrix, p) = Decode(element, all.calls[lane]->in[slot], e);
    };
  };
  size_t slot = ForFragment(shape, shape.a, shape.m, shape.k, 0, PlaceInA, read(a, shape.a));
  slot = ForFragment(shape, shape.b, shape.k, shape.n, slot, PlaceInB, read(b, shape.b));
  slot = ForFragment(shape, shape.c, shape.m, shape.n, slot, PlaceInC, read(c, shape.c));
  if (slot != all.site.operands.size()) {
    return all.cta.Fail(absl::StatusCode::kUnimplemented, all.site,
                        absl::StrCat("a matrix operation with ", all.site.operands.size(), " operands, not ", slot));
  }
  for (size_t row = 0; row < static_cast<size_t>(shape.m); ++row) {
    for (size_t column = 0; column < static_cast<size_t>(shape.n); ++column) {
      double sum = c[row][column];
      for (size_t k = 0; k < static_cast<size_t>(shape.k); ++k) {
        sum = shape.c == Element::kF64 ? std::fma(a[row][k], b[k][column], sum) : sum + a[row][k] * b[k][column];
      }
      c[row][column] = sum;
    }
  }
  for (const Call* call : all.calls) std::memset(call->out, 0, all.site.results.size() * sizeof(uint64_t));
  ForFragment(shape, shape.c, shape.m, shape.n, 0, PlaceInC, [&](size_t lane, size_t out, int e, Position p) {
    const double value = at(c, p);
    uint64_t bits;
    if (IsInteger(shape.c)) {  // exact in a double
      constexpr double kMin = std::numeric_limits<int32_t>::min();
      constexpr double kMax = std::numeric_limits<int32_t>::max();
      const double in_range = shape.saturates ? std::fmin(std::fmax(value, kMin), kMax) : value;
      bits = static_cast<uint32_t>(static_cast<int64_t>(in_range));
    } else {
      bits = Encode(shape.c, value);
    }
    all.calls[lane]->out[out] |= bits << (e * BitsOf(shape.c) % 64);
  });
}

MmaShape ShapeOf(const CallSite& site, Element a, Element b, Element c, bool saturates = false) {
  return {site.choice[0], site.choice[1], site.choice[2], a, b, c, saturates};
}

// Element of the alternatives {f16|f32}, {e4m3|e5m2}, {s8|u8|s4|u4}.
Element Accumulator(int choice) { return choice == 0 ? Element::kF16 : Element::kF32; }
Element F8(int choice) { return choice == 0 ? Element::kE4M3 : Element::kE5M2; }
Element Integer(int choice) {
  constexpr Element kElements[] = {Element::kS8, Element::kU8, Element::kS4, Element::kU4};
  return kElements[choice];
}

template <Element kInput, Element kSum>
void MmaAll(const WarpCall& all) {
  Multiply(all, ShapeOf(all.site, kInput, kInput, kSum));
}
void MmaF16All(const WarpCall& all) {
  Multiply(all, ShapeOf(all.site, Element::kF16, Element::kF16, Accumulator(all.site.choice[3])));
}
void MmaF8All(const WarpCall& all) {
  const auto& choice = all.site.choice;
  Multiply(all, ShapeOf(all.site, F8(choice[5]), F8(choice[6]), Accumulator(choice[4])));
}
void MmaIntegerAll(const WarpCall& all) {
  const auto& choice = all.site.choice;
  Multiply(all, ShapeOf(all.site, Integer(choice[4]), Integer(choice[4]), Element::kS32, choice[3] == 1));
}
void MmaMixedIntegerAll(const WarpCall& all) {
  const auto& choice = all.site.choice;
  Multiply(all, ShapeOf(all.site, Integer(choice[4]), Integer(choice[5]), Element::kS32, choice[3] == 1));
}

// --- ldmatrix, stmatrix -----------------------------------------------------------------------------------------

// Matrices of 8 rows of 8 elements of 16 bits. Lane 8 * i + r has the address of row r of matrix i. In register i, lane
// l holds elements [l / 4][2 * (l % 4)] and the one after it, or, transposed, those with row and column exchanged.

// A row's address, checked for an access by the lane that gave it; 0 when it is bad.
uint64_t RowAddress(const WarpCall& all, int matrix, int row, SharedAccess access, const void* value) {
  const int lane = 8 * matrix + row;
  const uint64_t address = all.calls[static_cast<size_t>(lane)]->in[0];
  const int thread = all.cta.warp() * 32 + lane;
  return all.cta.CheckAccess(all.site, thread, access, address, 16, value) ? address : 0;
}

using Matrix = std::array<std::array<uint16_t, 8>, 8>;

uint16_t& ElementOf(Matrix& matrix, size_t lane, size_t e, bool transposed) {
  const size_t row = lane / 4;
  const size_t column = 2 * (lane % 4) + e;
  return transposed ? matrix[column][row] : matrix[row][column];
}

int CountOf(const CallSite& site) { return 1 << site.choice[0]; }  // {1|2|4}

void LoadMatricesAll(const WarpCall& all) {
  for (int i = 0; i < CountOf(all.site); ++i) {
    Matrix matrix;
    for (int row = 0; row < 8; ++row) {
      const uint64_t address = RowAddress(all, i, row, SharedAccess::kLoad, nullptr);
      if (address == 0) return;
      std::memcpy(matrix[static_cast<size_t>(row)].data(), reinterpret_cast<const void*>(address), 16);
    }
    for (size_t lane = 0; lane < 32; ++lane) {
      const bool transposed = all.site.choice[1] == 1;
      all.calls[lane]->out[i] =
          ElementOf(matrix, lane, 0, transposed) | static_cast<uint64_t>(ElementOf(matrix, lane, 1, transposed)) << 16;
    }
  }
}

void StoreMatricesAll(const WarpCall& all) {
  for (int i = 0; i < CountOf(all.site); ++i) {
    Matrix matrix;
    for (size_t lane = 0; lane < 32; ++lane) {
      const auto bits = FromSlot<uint32_t>(all.calls[lane]->in[1 + i]);
      for (size_t e = 0; e < 2; ++e) {
        ElementOf(matrix, lane, e, all.site.choice[1] == 1) = static_cast<uint16_t>(bits >> (16 * e));
      }
    }
    for (int row = 0; row < 8; ++row) {
      const auto& values = matrix[static_cast<size_t>(row)];
      const uint64_t address = RowAddress(all, i, row, SharedAccess::kStore, values.data());
      if (address == 0) return;
      std::memcpy(reinterpret_cast<void*>(address), values.data(), 16);
    }
  }
}

template <void (*kCompute)(const WarpCall&)>
void WholeWarp(const Call& call) {
  call.cta.WarpOperation(call, kWholeWarp, kCompute);
}

constexpr Row kRows[] = {
    {"mma.m#n#k#.row.col.{f16|f32}.{f16|f32}", WholeWarp<MmaF16All>},  // but m8n8k4, which has another layout
    {"mma.m#n#k#.row.col.bf16", WholeWarp<MmaAll<Element::kBF16, Element::kF32>>},
    {"mma.m#n#k#.row.col.tf32", WholeWarp<MmaAll<Element::kTF32, Element::kF32>>},
    {"mma.m#n#k#.row.col.f64", WholeWarp<MmaAll<Element::kF64, Element::kF64>>},
    {"mma.m#n#k#.row.col{|.kind.f8f6f4}.{f16|f32}.{e4m3|e5m2}.{e4m3|e5m2}.{f16|f32}", WholeWarp<MmaF8All>},
    {"mma.m#n#k#.row.col{|.satfinite}.{s8|u8|s4|u4}", WholeWarp<MmaIntegerAll>},
    {"mma.m#n#k#.row.col{|.satfinite}.{s8|u8|s4|u4}.{s8|u8|s4|u4}", WholeWarp<MmaMixedIntegerAll>},
    {"ldmatrix.sync.aligned.m8n8.x{1|2|4}{|.trans}.b16~", WholeWarp<LoadMatricesAll>},
    {"stmatrix.sync.aligned.m8n8.x{1|2|4}{|.trans}.b16~", WholeWarp<StoreMatricesAll>},
};

}  // namespace

std::span<const Row> MatrixRows() { return kRows; }

}  // namespace trivet::jit
