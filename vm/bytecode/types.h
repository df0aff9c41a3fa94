// Types of values: scalars, tiles, pointers, block pointers and tensor descriptors.
//
//   f32                      a scalar
//   tile<64x32xf16>          a tile: static shape, element type
//   ptr<f32>                 a pointer in global memory; ptr<ptr<f32>> points to pointers
//   tile<64xptr<f32>>        a tile of pointers
//   blockptr<64x32xf16>      base, shape, strides and offsets of a tensor, and the shape of the block it names
//   desc<64x32xf16>          tensor descriptor: base, shape, strides; a load names the offsets
//
// A Type is a small value; equality is structural.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trivet::vm {

enum class DType : uint8_t {
  kNone = 0,
#define TRIVET_DTYPE(code, Name, text, triton, bits, bytes, Class) k##Name = code,
#include "vm/bytecode/dtypes.def"
};

enum class DTypeClass : uint8_t { kNone, kBool, kSigned, kUnsigned, kFloat };

struct DTypeInfo {
  DType dtype;
  const char* text;         // "f32", as in the text form
  const char* triton_name;  // "fp32", as in the language
  int bits;
  int storage_bytes;
  DTypeClass dtype_class;
};

// Facts about an element type. `dtype` must be a row of dtypes.def (not kNone).
const DTypeInfo& InfoOf(DType dtype);
// All element types in order of their codes.
absl::Span<const DTypeInfo> AllDTypes();
// The element type spelt `text` ("f32"), or kNone.
DType DTypeFromText(absl::string_view text);
// The element type that Triton spells `name` ("fp32", "int32"), or kNone.
DType DTypeFromTriton(absl::string_view name);
// True if `code` is the code of a row of dtypes.def.
bool IsDTypeCode(uint64_t code);

inline bool IsFloat(DType t) { return InfoOf(t).dtype_class == DTypeClass::kFloat; }
inline bool IsBool(DType t) { return t == DType::kI1; }
// Integers, booleans included.
inline bool IsInteger(DType t) { return !IsFloat(t); }
inline bool IsSignedInteger(DType t) { return InfoOf(t).dtype_class == DTypeClass::kSigned; }
inline bool IsUnsignedInteger(DType t) { return InfoOf(t).dtype_class == DTypeClass::kUnsigned; }

enum class TypeKind : uint8_t { kNone = 0, kValue = 1, kBlockPtr = 2, kDesc = 3 };

// The largest rank of a tile: sort and other library code reshape to 2x2x...; 2^20 elements is rank 20.
inline constexpr int kMaxRank = 24;
// The largest number of elements of a tile, as in Triton.
inline constexpr int64_t kMaxTileElements = int64_t{1} << 20;
// The largest pointer depth: ptr<ptr<T>> is depth 2.
inline constexpr int kMaxPointerDepth = 4;

class Type {
 public:
  using Shape = absl::InlinedVector<int64_t, 4>;

  Type() = default;
  static Type Scalar(DType element) { return Type(TypeKind::kValue, element, 0, {}); }
  static Type Pointer(DType pointee, int depth = 1) { return Type(TypeKind::kValue, pointee, depth, {}); }
  static Type Tile(absl::Span<const int64_t> shape, DType element) { return Type(TypeKind::kValue, element, 0, shape); }
  static Type PointerTile(absl::Span<const int64_t> shape, DType pointee, int depth = 1) {
    return Type(TypeKind::kValue, pointee, depth, shape);
  }
  static Type BlockPtr(absl::Span<const int64_t> shape, DType element) {
    return Type(TypeKind::kBlockPtr, element, 0, shape);
  }
  static Type Desc(absl::Span<const int64_t> shape, DType element) { return Type(TypeKind::kDesc, element, 0, shape); }

  TypeKind kind() const { return kind_; }
  // Of a scalar or tile of numbers: the element type. Of pointers: the innermost pointee.
  DType dtype() const { return dtype_; }
  int pointer_depth() const { return pointer_depth_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  // Extent of dimension `axis`; negative counts from the back. Requires -rank <= axis < rank.
  int64_t dim(int axis) const { return shape_[static_cast<size_t>(axis < 0 ? axis + rank() : axis)]; }
  // Elements of a tile; 1 for a scalar.
  int64_t num_elements() const;

  bool is_none() const { return kind_ == TypeKind::kNone; }
  bool is_value() const { return kind_ == TypeKind::kValue; }
  bool is_scalar() const { return is_value() && shape_.empty(); }
  bool is_tile() const { return is_value() && !shape_.empty(); }
  bool is_block_ptr() const { return kind_ == TypeKind::kBlockPtr; }
  bool is_desc() const { return kind_ == TypeKind::kDesc; }
  // Scalar or tile of pointers.
  bool is_pointer() const { return is_value() && pointer_depth_ > 0; }
  // Scalar or tile of numbers.
  bool is_number() const { return is_value() && pointer_depth_ == 0; }
  bool is_float() const { return is_number() && IsFloat(dtype_); }
  bool is_integer() const { return is_number() && IsInteger(dtype_); }
  bool is_bool() const { return is_number() && IsBool(dtype_); }

  // The same elements in another shape; an empty shape gives the scalar.
  Type WithShape(absl::Span<const int64_t> shape) const { return Type(kind_, dtype_, pointer_depth_, shape); }
  Type AsScalar() const { return Type(TypeKind::kValue, dtype_, pointer_depth_, {}); }
  // The same shape with numbers of type `dtype`.
  Type WithDType(DType dtype) const { return Type(TypeKind::kValue, dtype, 0, shape_); }
  // Of pointers: what they point to, same shape. Requires is_pointer().
  Type Pointee() const { return Type(TypeKind::kValue, dtype_, pointer_depth_ - 1, shape_); }
  // Pointers to elements of this type, same shape.
  Type PointerTo() const { return Type(TypeKind::kValue, dtype_, pointer_depth_ + 1, shape_); }

  // Bytes of one element as stored in a tile; pointers take 8.
  int element_bytes() const { return pointer_depth_ > 0 ? 8 : InfoOf(dtype_).storage_bytes; }
  // Bytes a value of this type takes in an interpreter frame (see vm/interpreter/frame.h).
  int64_t value_bytes() const;

  // Text form: "tile<64x32xf16>".
  std::string ToString() const;

  friend bool operator==(const Type&, const Type&) = default;

 private:
  Type(TypeKind kind, DType dtype, int pointer_depth, absl::Span<const int64_t> shape)
      : kind_(kind),
        dtype_(dtype),
        pointer_depth_(static_cast<uint8_t>(pointer_depth)),
        shape_(shape.begin(), shape.end()) {}

  TypeKind kind_ = TypeKind::kNone;
  DType dtype_ = DType::kNone;
  uint8_t pointer_depth_ = 0;
  Shape shape_;
};

// "64x32".
std::string ShapeToString(absl::Span<const int64_t> shape);

}  // namespace trivet::vm
