#include "tests/support/random_integer_program.h"

#include <limits>
#include <optional>

#include "vm/bytecode/builder.h"

namespace trivet::vm {
namespace {

constexpr DType kIntegers[] = {DType::kI8,  DType::kI16, DType::kI32, DType::kI32, DType::kI32,
                               DType::kI64, DType::kU8,  DType::kU16, DType::kU32, DType::kU64};

class Generator {
 public:
  Generator(std::mt19937_64& random, RandomIntegerProgram* program, bool stores)
      : random_(random), program_(*program), stores_(stores), function_(), builder_(&function_, RegionId()) {}

  void Run(int num_ops) {
    function_.name = "k";
    function_.is_kernel = true;
    function_.body = function_.AddRegion();
    builder_.set_region(function_.body);
    for (DType dtype : {DType::kI32, DType::kI32, DType::kI32, DType::kI64, DType::kU32}) {
      AddArgument(Type::Scalar(dtype));
    }
    for (DType dtype : {DType::kF32, DType::kF16, DType::kI8, DType::kI1}) AddArgument(Type::Pointer(dtype));
    if (stores_) {
      output_ = function_.AddParam(function_.body, Type::Pointer(DType::kI64), "out");
      program_.arguments.push_back({.divisibility = 8});
    }
    Emit(num_ops, /*depth=*/0);
    if (stores_) {
      for (int i = 0; i < 20; ++i) Store();
    }
    builder_.Create(Op::kReturn, {}, {});
    program_.module.functions.push_back(std::move(function_));
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }

  void AddArgument(Type type) {
    RandomArgument argument;
    argument.divisibility = int64_t{1} << Below(6);
    if (!type.is_pointer()) {
      argument.is_one = Chance(10);
      argument.is_positive = Chance(40);
      if (argument.is_one) argument.divisibility = 1;
    }
    program_.arguments.push_back(argument);
    pool_.push_back(function_.AddParam(function_.body, type, "arg"));
  }

  // A value of the pool for which `fits` holds; recent ones more often.
  template <typename Predicate>
  std::optional<ValueId> Pick(const Predicate& fits) {
    std::vector<ValueId> fitting;
    for (ValueId value : pool_) {
      if (fits(function_.type(value))) fitting.push_back(value);
    }
    if (fitting.empty()) return std::nullopt;
    const size_t recent = Chance(50) ? std::min<size_t>(fitting.size(), 6) : fitting.size();
    return fitting[fitting.size() - 1 - static_cast<size_t>(Below(static_cast<int>(recent)))];
  }
  std::optional<ValueId> PickOf(const Type& type) {
    return Pick([&](const Type& other) { return other == type; });
  }

  int64_t Number() {
    constexpr int64_t kNumbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 24, 31, 32, 48, 63, 64, 100, 127, 128, 255, 256, 1024};
    const int64_t number = kNumbers[Below(std::size(kNumbers))];
    return Chance(20) ? -number : number;
  }

  void Add(ValueId value) { pool_.push_back(value); }

  // One op, or a loop or branch with ops inside. May do nothing when the pool lacks operands.
  void EmitOne(int depth) {
    const int choice = Below(100);
    if (choice < 12) {
      Source();
    } else if (choice < 50) {
      Binary();
    } else if (choice < 58) {
      Compare();
    } else if (choice < 64) {
      Select();
    } else if (choice < 71) {
      Cast();
    } else if (choice < 80) {
      AddPointer();
    } else if (choice < 94) {
      Shape();
    } else if (choice < 97) {
      Hintless();
    } else if (depth < 2) {
      Control(depth);
    }
  }

  void Emit(int num_ops, int depth) {
    for (int i = 0; i < num_ops; ++i) EmitOne(depth);
  }

  void Source() {
    switch (Below(4)) {
      case 0: {
        const int64_t start = Chance(60) ? 0 : Number();
        const int64_t extent = Chance(90) ? int64_t{1} << (Chance(5) ? 9 : Below(6)) : 3 + Below(10);
        return Add(builder_.Create1(Op::kArange, {}, Type::Tile({extent}, DType::kI32), {start, start + extent}));
      }
      case 1:
        return Add(builder_.Create1(Op::kProgramId, {}, Type::Scalar(DType::kI32), {int64_t{Below(2)}}));
      default: {
        const auto like = Pick([](const Type& type) { return type.is_integer(); });
        return Add(builder_.ConstantI(function_.type(*like), Number()));
      }
    }
  }

  void Binary() {
    constexpr Op kOps[] = {Op::kAddI, Op::kAddI, Op::kSubI, Op::kMulI, Op::kMulI, Op::kDivI, Op::kDivI, Op::kRemI,
                           Op::kRemI, Op::kAndI, Op::kOrI,  Op::kXorI, Op::kShl,  Op::kShr,  Op::kMinI, Op::kMaxI};
    const auto lhs = Pick([](const Type& type) { return type.is_integer(); });
    const Type type = function_.type(*lhs);
    std::optional<ValueId> rhs = PickOf(type);
    if (Chance(50)) rhs = builder_.ConstantI(type, Number());
    const Op op = kOps[Below(std::size(kOps))];
    if (type.is_bool() && op != Op::kAndI && op != Op::kOrI && op != Op::kXorI) return;
    const bool swap = Chance(25);
    Add(builder_.Elementwise(op, {swap ? *rhs : *lhs, swap ? *lhs : *rhs}));
  }

  void Compare() {
    const auto lhs = Pick([](const Type& type) { return type.is_value() && !type.is_bool(); });
    const Type type = function_.type(*lhs);
    std::optional<ValueId> rhs = PickOf(type);
    if (type.is_integer() && Chance(40)) rhs = builder_.ConstantI(type, Number());
    Add(builder_.Create1(Op::kCmpI, {*lhs, *rhs}, Type::Scalar(DType::kI1).WithShape(type.shape()),
                         {int64_t{Below(6)}}));
  }

  void Select() {
    const auto a = Pick([](const Type&) { return true; });
    const Type type = function_.type(*a);
    const auto b = PickOf(type);
    const Type mask = Type::Scalar(DType::kI1).WithShape(type.shape());
    const auto condition = PickOf(Chance(20) ? Type::Scalar(DType::kI1) : mask);
    if (condition) Add(builder_.Create1(Op::kSelect, {*condition, *a, *b}, type));
  }

  void Cast() {
    const auto x = Pick([](const Type& type) { return type.is_integer(); });
    const DType to = Chance(10) ? DType::kI1 : kIntegers[Below(std::size(kIntegers))];
    Add(builder_.Create1(Op::kCast, {*x}, function_.type(*x).WithDType(to)));
  }

  // Pointer and offset meet in one shape.
  void AddPointer() {
    const auto offset = Pick([](const Type& type) { return type.is_integer() && !type.is_bool(); });
    const Type::Shape shape = function_.type(*offset).shape();
    auto ptr = Pick([&](const Type& type) { return type.is_pointer() && type.shape() == shape; });
    if (!ptr || Chance(20)) {
      const auto scalar = Pick([](const Type& type) { return type.is_pointer() && type.is_scalar(); });
      if (!scalar) return;
      ptr = shape.empty() ? *scalar : builder_.Create1(Op::kSplat, {*scalar}, function_.type(*scalar).WithShape(shape));
    }
    Add(builder_.Elementwise(Op::kAddPtr, {*ptr, *offset}));
  }

  void Hintless() {
    const auto x = Pick([](const Type& type) { return type.is_pointer(); });
    if (!x) return;
    const Type type = function_.type(*x);
    if (Chance(50)) {
      constexpr DType kPointees[] = {DType::kF32, DType::kI32, DType::kF16, DType::kI8, DType::kF64};
      const Type to = Type::Pointer(kPointees[Below(std::size(kPointees))]).WithShape(type.shape());
      return Add(builder_.Create1(Op::kBitcast, {*x}, to));
    }
    Add(builder_.Create1(Op::kPtrToInt, {*x}, Type::Scalar(DType::kI64).WithShape(type.shape())));
  }

  void Shape() {
    const auto x = Pick([](const Type& type) { return type.is_tile(); });
    if (!x || Chance(15)) {
      const auto scalar = Pick([](const Type& type) { return type.is_scalar(); });
      const auto like = Pick([](const Type& type) { return type.is_tile(); });
      if (!like) return;
      return Add(
          builder_.Create1(Op::kSplat, {*scalar}, function_.type(*scalar).WithShape(function_.type(*like).shape())));
    }
    const Type type = function_.type(*x);
    Type::Shape shape = type.shape();
    switch (Below(9)) {
      case 0:
      case 1: {
        if (shape.size() > 2) return;
        const int axis = Below(type.rank() + 1);
        shape.insert(shape.begin() + axis, 1);
        return Add(builder_.Create1(Op::kExpandDims, {*x}, type.WithShape(shape), {int64_t{axis}}));
      }
      case 2:
      case 3: {
        bool any = false;
        for (int64_t& extent : shape) {
          if (extent == 1 && type.num_elements() <= 256) {
            extent = int64_t{1} << Below(4);
            any = true;
          }
        }
        if (!any) return;
        return Add(builder_.Create1(Op::kBroadcast, {*x}, type.WithShape(shape)));
      }
      case 4: {
        if (Chance(50)) {
          shape = {type.num_elements()};
        } else {
          for (size_t i = 0; i < shape.size(); ++i) {
            if (shape[i] % 2 == 0 && shape.size() < 4) {
              shape[i] /= 2;
              shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(i) + 1, 2);
              break;
            }
          }
        }
        return Add(builder_.Create1(Op::kReshape, {*x}, type.WithShape(shape), {int64_t{0}}));
      }
      case 5: {
        if (type.rank() < 2) return;
        std::vector<int64_t> order(shape.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(order.size() - 1 - i);
        Type::Shape permuted;
        for (int64_t axis : order) permuted.push_back(shape[static_cast<size_t>(axis)]);
        return Add(builder_.Create1(Op::kTrans, {*x}, type.WithShape(permuted), {order}));
      }
      case 6: {
        const auto y = PickOf(type);
        if (type.num_elements() > 256 || shape.size() > 3) return;
        if (Chance(50)) {
          shape.push_back(2);
          return Add(builder_.Create1(Op::kJoin, {*x, *y}, type.WithShape(shape)));
        }
        const int axis = Below(type.rank());
        shape[static_cast<size_t>(axis)] *= 2;
        return Add(builder_.Create1(Op::kCat, {*x, *y}, type.WithShape(shape), {int64_t{axis}, int64_t{0}}));
      }
      case 7:
        return Add(builder_.Create1(Op::kFlip, {*x}, type, {int64_t{Below(type.rank())}}));
      default: {
        if (shape.back() == 2) {
          shape.pop_back();
          const Type half = type.WithShape(shape);
          const OpId split = builder_.Create(Op::kSplit, {*x}, {half, half});
          Add(function_.op(split).result(0));
          return Add(function_.op(split).result(1));
        }
        std::vector<int64_t> starts;
        std::vector<int64_t> steps;
        for (int64_t& extent : shape) {
          const int64_t part = extent >= 4 ? extent / 2 : extent;
          starts.push_back(Below(static_cast<int>(extent - part) + 1));
          steps.push_back(1);
          extent = part;
        }
        return Add(builder_.Create1(Op::kSlice, {*x}, type.WithShape(shape), {starts, steps}));
      }
    }
  }

  // Carried values or results: one or two of any type.
  std::vector<ValueId> PickSome() {
    std::vector<ValueId> values;
    for (int i = 0; i <= Below(2); ++i) {
      const auto tile = Chance(60) ? Pick([](const Type& type) { return type.is_tile(); }) : std::nullopt;
      values.push_back(tile ? *tile : *Pick([](const Type&) { return true; }));
    }
    return values;
  }
  // What the region ends with: values of the same types as `like`.
  std::vector<ValueId> PickLike(const std::vector<ValueId>& like) {
    std::vector<ValueId> values;
    for (ValueId value : like) values.push_back(*PickOf(function_.type(value)));
    return values;
  }
  absl::InlinedVector<Type, 2> TypesOf(const std::vector<ValueId>& values) const {
    absl::InlinedVector<Type, 2> types;
    for (ValueId value : values) types.push_back(function_.type(value));
    return types;
  }

  void Control(int depth) {
    const std::vector<ValueId> carried = PickSome();
    const RegionId outside = builder_.region();
    const size_t visible = pool_.size();
    std::vector<ValueId> operands;
    std::vector<RegionId> regions;
    const bool is_loop = Chance(60);
    absl::InlinedVector<Attribute, 1> attrs;
    if (is_loop) {
      const Type counter = Type::Scalar(Chance(70) ? DType::kI32 : DType::kI64);
      const int64_t step = Chance(20) ? -1 - Below(8) : 1 + Below(16);
      const int64_t lower = Number();
      operands = {builder_.ConstantI(counter, lower), UpperBound(counter, lower, step),
                  builder_.ConstantI(counter, step)};
      operands.insert(operands.end(), carried.begin(), carried.end());
      regions = {function_.AddRegion()};
      Add(function_.AddParam(regions[0], counter, "i"));
      for (ValueId value : carried) Add(function_.AddParam(regions[0], Type(function_.type(value)), "carried"));
      attrs = {int64_t{0}, int64_t{Below(4)}, int64_t{0}, int64_t{0}, int64_t{0}};
    } else {
      const auto condition = PickOf(Type::Scalar(DType::kI1));
      if (!condition) return;
      operands = {*condition};
      regions = {function_.AddRegion(), function_.AddRegion()};
    }
    const size_t inside = pool_.size();
    for (RegionId region : regions) {
      builder_.set_region(region);
      Emit(8, depth + 1);
      if (is_loop && Chance(30)) LeaveEarly(carried);
      std::vector<ValueId> next = PickLike(carried);
      for (size_t i = 0; is_loop && i < next.size(); ++i) {
        if (Chance(60)) next[i] = MovedOn(function_.region(region).params[i + 1], next[i]);
      }
      builder_.Create(Op::kYield, next, {});
      pool_.resize(inside);
    }
    builder_.set_region(outside);
    pool_.resize(visible);
    const OpId op = builder_.Create(is_loop ? Op::kFor : Op::kIf, operands, TypesOf(carried), attrs, regions);
    for (ValueId result : function_.op(op).results) Add(result);
  }

  // A tile of integers or pointers moved by one distance for all elements; `otherwise` for other values.
  ValueId MovedOn(ValueId tile, ValueId otherwise) {
    const Type type = function_.type(tile);
    if (!type.is_tile() || type.is_bool() || type.is_float()) return otherwise;
    const Type distance = type.is_pointer() ? Type::Scalar(Chance(50) ? DType::kI32 : DType::kU32) : type.AsScalar();
    const auto scalar = PickOf(distance);
    const ValueId by = scalar && Chance(70) ? builder_.Create1(Op::kSplat, {*scalar}, distance.WithShape(type.shape()))
                                            : builder_.ConstantI(distance.WithShape(type.shape()), Number());
    return builder_.Elementwise(type.is_pointer() ? Op::kAddPtr : Op::kAddI, {tile, by});
  }

  // At most a few steps from `lower`; known, or not before the program runs.
  ValueId UpperBound(const Type& counter, int64_t lower, int64_t step) {
    const auto x = Chance(40) ? PickOf(counter) : std::nullopt;
    if (!x) return builder_.ConstantI(counter, lower + step * Below(5));
    const ValueId distance = builder_.Elementwise(Op::kRemI, {*x, builder_.ConstantI(counter, 3 * step)});
    return builder_.Elementwise(Op::kAddI, {builder_.ConstantI(counter, lower), distance});
  }

  // if c { break or continue } else { yield }
  void LeaveEarly(const std::vector<ValueId>& carried) {
    const auto condition = PickOf(Type::Scalar(DType::kI1));
    if (!condition) return;
    const RegionId outside = builder_.region();
    const RegionId leave = function_.AddRegion();
    const RegionId stay = function_.AddRegion();
    builder_.set_region(leave);
    builder_.Create(Chance(50) ? Op::kBreak : Op::kContinue, PickLike(carried), {});
    builder_.set_region(stay);
    builder_.Create(Op::kYield, {}, {});
    builder_.set_region(outside);
    builder_.Create(Op::kIf, {*condition}, {}, {}, {leave, stay});
  }

  // out[next++] = one element of a value.
  void Store() {
    ValueId x = *Pick([](const Type&) { return true; });
    if (function_.type(x).is_pointer()) {
      x = builder_.Create1(Op::kPtrToInt, {x}, Type::Scalar(DType::kI64).WithShape(function_.type(x).shape()));
    }
    const Type type = function_.type(x);
    if (type.is_tile()) {
      x = builder_.Create1(Op::kReshape, {x}, type.WithShape({type.num_elements()}), {int64_t{0}});
      const ValueId index = builder_.ConstantI(Type::Scalar(DType::kI32), Below(static_cast<int>(type.num_elements())));
      x = builder_.Create1(Op::kExtract, {x, index}, type.AsScalar());
    }
    x = builder_.Create1(Op::kCast, {x}, Type::Scalar(DType::kI64));
    const ValueId at = builder_.ConstantI(Type::Scalar(DType::kI32), next_output_++);
    const ValueId ptr = builder_.Elementwise(Op::kAddPtr, {output_, at});
    builder_.Create(Op::kStore, {ptr, x, ValueId::None()}, {});
  }

  std::mt19937_64& random_;
  RandomIntegerProgram& program_;
  const bool stores_;
  Function function_;
  Builder builder_;
  std::vector<ValueId> pool_;
  ValueId output_;
  int64_t next_output_ = 0;
};

}  // namespace

std::vector<uint64_t> RandomIntegerProgram::MakeArguments(std::mt19937_64& random) const {
  std::vector<uint64_t> words;
  const Function& function = module.functions[0];
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = function.type(function.params()[i]);
    const RandomArgument& fact = arguments[i];
    if (fact.is_one) {
      words.push_back(1);
      continue;
    }
    int64_t value = static_cast<int64_t>(random());
    switch (random() % 4) {
      case 0:
        value %= 300;
        break;
      case 1:
        value = std::numeric_limits<int32_t>::max() - static_cast<int64_t>(random() % 70);
        break;
      case 2:
        value = (value & 1) != 0 ? 0 : std::numeric_limits<int32_t>::min() + static_cast<int64_t>(random() % 70);
        break;
      default:
        break;
    }
    value &= ~(fact.divisibility - 1);
    if (type.is_integer() && fact.is_positive) {
      const int bits = InfoOf(type.dtype()).bits;
      value &= static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
      if (value == 0) value = fact.divisibility;
    }
    words.push_back(type.is_integer() ? static_cast<uint64_t>(BitsOf(type.dtype(), value))
                                      : static_cast<uint64_t>(value));
  }
  return words;
}

RandomIntegerProgram MakeRandomIntegerProgram(std::mt19937_64& random, int num_ops, bool stores) {
  RandomIntegerProgram program;
  Generator(random, &program, stores).Run(num_ops);
  return program;
}

}  // namespace trivet::vm
