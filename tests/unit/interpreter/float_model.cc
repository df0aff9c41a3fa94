#include "tests/unit/interpreter/float_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace trivet::vm {
namespace {

constexpr long double kInfinity = std::numeric_limits<long double>::infinity();

}  // namespace

const FloatModel& FloatModel::Of(DType dtype) {
  static const std::vector<FloatModel>& models = *new std::vector<FloatModel>{
      {DType::kF8E4M3, 4, 3, 7, 'n'},   {DType::kF8E5M2, 5, 2, 15, 'i'},  {DType::kF8E4B8, 4, 3, 8, 'z'},
      {DType::kF8E5B16, 5, 2, 16, 'z'}, {DType::kF8E4B15, 4, 3, 15, 'f'}, {DType::kF16, 5, 10, 15, 'i'},
      {DType::kBF16, 8, 7, 127, 'i'},   {DType::kF32, 8, 23, 127, 'i'},   {DType::kF64, 11, 52, 1023, 'i'}};
  return *std::find_if(models.begin(), models.end(), [&](const FloatModel& m) { return m.dtype() == dtype; });
}

FloatModel::FloatModel(DType dtype, int exponent_bits, int mantissa_bits, int bias, char specials)
    : dtype_(dtype),
      storage_bytes_((1 + exponent_bits + mantissa_bits) / 8),
      exponent_bits_(exponent_bits),
      mantissa_bits_(mantissa_bits),
      bias_(bias),
      specials_(specials) {
  if (storage_bytes_ > 2) return;
  for (uint64_t code = 0; code <= largest_code(); ++code) magnitudes_.push_back(Decode(code));
}

bool FloatModel::IsNan(uint64_t code) const { return std::isnan(Decode(code)); }

uint64_t FloatModel::largest_code() const {
  const uint64_t all_ones = SignBit() - 1;
  switch (specials_) {
    case 'i':
      return (((uint64_t{1} << exponent_bits_) - 1) << mantissa_bits_) - 1;
    case 'n':
      return all_ones - 1;
    case 'f':
      return all_ones - 1;  // conversions stop below the last code
    default:
      return all_ones;
  }
}

long double FloatModel::Decode(uint64_t code) const {
  const bool negative = (code & SignBit()) != 0;
  const uint64_t magnitude = code & (SignBit() - 1);
  const uint64_t mantissa = magnitude & ((uint64_t{1} << mantissa_bits_) - 1);
  const auto exponent = static_cast<int>(magnitude >> mantissa_bits_);
  const long double nan = std::copysign(std::numeric_limits<long double>::quiet_NaN(), negative ? -1.0L : 1.0L);
  if (specials_ == 'i' && exponent == (1 << exponent_bits_) - 1) {
    if (mantissa != 0) return nan;
    return negative ? -kInfinity : kInfinity;
  }
  if (specials_ == 'n' && magnitude == SignBit() - 1) return nan;
  if (specials_ == 'z' && code == SignBit()) return -nan;
  const long double value = exponent == 0
                                ? std::ldexp(static_cast<long double>(mantissa), 1 - bias_ - mantissa_bits_)
                                : std::ldexp(static_cast<long double>(mantissa + (uint64_t{1} << mantissa_bits_)),
                                             exponent - bias_ - mantissa_bits_);
  return negative ? -value : value;
}

std::vector<uint64_t> FloatModel::Edges() const {
  std::vector<uint64_t> codes;
  if (storage_bytes_ == 1) {
    for (uint64_t code = 0; code < 256; ++code) codes.push_back(code);
    return codes;
  }
  const uint64_t one = static_cast<uint64_t>(bias_) << mantissa_bits_;
  const uint64_t least_normal = uint64_t{1} << mantissa_bits_;
  const uint64_t top = largest_code();
  for (uint64_t magnitude : {uint64_t{0},
                             uint64_t{1},
                             uint64_t{2},
                             uint64_t{3},
                             least_normal / 2 + 1,
                             least_normal - 1,
                             least_normal,
                             least_normal + 1,
                             one / 2,
                             one - 1,
                             one,
                             one + 1,
                             one + 2,
                             one + least_normal / 2,
                             one + least_normal,
                             one + least_normal + 1,
                             one + 3 * least_normal / 2 + 5,
                             one + 6 * least_normal + 3,
                             one - 5 * least_normal - 7,
                             one / 3 * 4 + 11,
                             top / 7 * 6 + 1,
                             top - least_normal,
                             top - 1,
                             top,
                             top + 1,
                             top + 1 + least_normal / 2}) {  // the last two: infinity, a quiet NaN
    codes.push_back(magnitude);
    codes.push_back(magnitude | SignBit());
  }
  return codes;
}

uint64_t FloatModel::EncodeHost(long double value, ModelRounding rounding, ModelOverflow overflow) const {
  // The host rounds a long double to nearest; a directed mode takes the neighbour if that went the wrong way.
  const auto encode = [&]<typename F, typename U>(F, U) -> uint64_t {
    F x = static_cast<F>(value);
    const F limit = std::numeric_limits<F>::infinity();
    const bool too_large = static_cast<long double>(x) > value;
    const bool too_small = static_cast<long double>(x) < value;
    if (rounding == ModelRounding::kDown && too_large) x = std::nextafter(x, -limit);
    if (rounding == ModelRounding::kUp && too_small) x = std::nextafter(x, limit);
    if (rounding == ModelRounding::kTowardZero && (value < 0 ? too_small : too_large)) x = std::nextafter(x, F{0});
    if (overflow == ModelOverflow::kSaturate && std::isinf(x)) x = std::copysign(std::numeric_limits<F>::max(), x);
    return std::bit_cast<U>(x);
  };
  return storage_bytes_ == 4 ? encode(float{}, uint32_t{}) : encode(double{}, uint64_t{});
}

uint64_t FloatModel::Encode(long double value, ModelRounding rounding, ModelOverflow overflow) const {
  if (storage_bytes_ > 2) return EncodeHost(value, rounding, overflow);
  const uint64_t all_ones = SignBit() - 1;
  if (std::isnan(value)) {
    if (specials_ == 'z') return SignBit();
    if (specials_ == 'f') return largest_code() | (std::signbit(value) ? SignBit() : 0);
    return specials_ == 'n' ? all_ones : largest_code() + 1 + (uint64_t{1} << (mantissa_bits_ - 1));
  }
  const bool negative = std::signbit(value);
  const long double magnitude = std::fabs(value);
  const bool outwards =
      rounding == ModelRounding::kNearest || rounding == (negative ? ModelRounding::kDown : ModelRounding::kUp);
  // What stands beyond the largest finite value.
  uint64_t beyond = largest_code();
  if (overflow == ModelOverflow::kInfinity && specials_ != 'f' && (outwards || std::isinf(value))) {
    beyond = specials_ == 'z' ? SignBit() : largest_code() + 1;
  }

  uint64_t code;
  const auto above = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
  const auto below = above - 1;  // the largest value not above
  const auto below_code = static_cast<uint64_t>(below - magnitudes_.begin());
  if (std::isinf(value)) {
    code = beyond;
  } else if (*below == magnitude) {
    code = below_code;
  } else {
    const bool is_top = above == magnitudes_.end();
    const long double step = is_top ? *below - *(below - 1) : *above - *below;
    // Past the top the next value would be one step on, whether or not it exists.
    const bool goes_up = rounding == ModelRounding::kNearest
                             ? (magnitude - *below > step / 2 ||
                                (magnitude - *below == step / 2 && (specials_ == 'f' || below_code % 2 == 1)))
                             : outwards;
    code = is_top ? (goes_up || magnitude - *below >= step ? beyond : below_code) : below_code + (goes_up ? 1 : 0);
  }
  if (specials_ == 'z' && (code == 0 || code == SignBit())) return code;
  return code | (negative ? SignBit() : 0);
}

bool FloatModel::SameCode(uint64_t a, uint64_t b) const { return a == b || (IsNan(a) && IsNan(b)); }

Bytes FloatModel::Store(const std::vector<uint64_t>& codes) const {
  Bytes bytes(codes.size() * static_cast<size_t>(storage_bytes_));
  for (size_t i = 0; i < codes.size(); ++i) SetWord(bytes, storage_bytes_, static_cast<int64_t>(i), codes[i]);
  return bytes;
}

std::vector<DType> FloatTypes() {
  std::vector<DType> types;
  for (const DTypeInfo& info : AllDTypes()) {
    if (info.dtype_class == DTypeClass::kFloat) types.push_back(info.dtype);
  }
  return types;
}

}  // namespace trivet::vm
