// Every claim that the analyses make about random programs, against the values that the interpreter computes.
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "jit/analysis/axis_info.h"
#include "jit/analysis/range_info.h"
#include "tests/support/random_integer_program.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"
#include "vm/interpreter/program.h"

namespace trivet::jit {
namespace {

using vm::DType;
using vm::Function;
using vm::Type;

// Elements of a value, zero-extended bits.
std::vector<uint64_t> ElementsOf(const Type& type, absl::Span<const uint8_t> bytes) {
  const auto size = static_cast<size_t>(type.element_bytes());
  std::vector<uint64_t> elements(bytes.size() / size);
  for (size_t i = 0; i < elements.size(); ++i) std::memcpy(&elements[i], bytes.data() + i * size, size);
  return elements;
}

// What is wrong with the claims, or empty.
std::string FindFalseClaim(const Type& type, const std::vector<uint64_t>& elements, const AxisInfo& info,
                           const Range& range) {
  const bool is_integer = type.is_integer();
  const int bits = is_integer ? vm::InfoOf(type.dtype()).bits : 64;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (uint64_t element : elements) {
    if (!is_integer) break;
    const int64_t value = vm::IntValueOf(type.dtype(), static_cast<int64_t>(element));
    if (!range.Contains(value)) return absl::StrCat(value, " is outside ", range.ToString());
    if (info.constant && *info.constant != value) return absl::StrCat(value, " is not ", *info.constant);
  }
  const Type::Shape shape = type.rank() == 0 ? Type::Shape{1} : type.shape();
  if (info.rank() != static_cast<int>(shape.size())) return "rank";
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t contiguity = info.contiguity[axis];
    const int64_t constancy = info.constancy[axis];
    if (shape[axis] % contiguity != 0) return "contiguity does not divide the extent";
    if (shape[axis] % constancy != 0) return "constancy does not divide the extent";
    for (size_t i = 0; i < elements.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i) / stride % shape[axis];
      const size_t run_start = i - static_cast<size_t>(at % contiguity * stride);
      const uint64_t expected = elements[run_start] + static_cast<uint64_t>(at % contiguity * info.unit);
      if ((elements[i] & mask) != (expected & mask)) return absl::StrCat("contiguity of axis ", axis, " at ", i);
      if (elements[i] != elements[i - static_cast<size_t>(at % constancy * stride)]) {
        return absl::StrCat("constancy of axis ", axis, " at ", i);
      }
      if (at % contiguity == 0 && elements[i] % static_cast<uint64_t>(info.divisibility[axis]) != 0) {
        return absl::StrCat("divisibility of axis ", axis, " at ", i, ": ", elements[i]);
      }
    }
    stride *= shape[axis];
  }
  return "";
}

// Looks at each operand before and at each result after its op, in every iteration.
class ClaimChecker : public vm::Observer {
 public:
  ClaimChecker(const Function& fn, const AxisInfoAnalysis& axes, const RangeAnalysis& ranges, Trust trust)
      : fn_(fn), axes_(axes), ranges_(ranges), trusts_remainders_(trust == Trust::kRemainders) {}

  void OnOpStart(const vm::OpEvent& event) override {
    if (trusts_remainders_ && fn_.op(event.op).opcode == vm::Op::kRemI) betrayed_ |= IsOddRemainder(event);
    for (ValueId operand : fn_.op(event.op).operands) Check(event, operand);
  }
  void OnOpEnd(const vm::OpEvent& event) override {
    for (ValueId result : fn_.op(event.op).results) Check(event, result);
  }
  int64_t num_checks() const { return num_checks_; }

 private:
  // A remainder of something negative, or by zero: from here on the claims are off.
  bool IsOddRemainder(const vm::OpEvent& event) const {
    const Type& type = fn_.type(fn_.op(event.op).operand(0));
    for (uint64_t element : ElementsOf(type, event.program->ReadValue(fn_.op(event.op).operand(0)))) {
      if (vm::IsSignedInteger(type.dtype()) && vm::IntValueOf(type.dtype(), static_cast<int64_t>(element)) < 0)
        return true;
    }
    for (uint64_t element : ElementsOf(type, event.program->ReadValue(fn_.op(event.op).operand(1)))) {
      if (element == 0) return true;
    }
    return false;
  }

  void Check(const vm::OpEvent& event, ValueId value) {
    if (value.is_none() || !fn_.type(value).is_value() || fn_.type(value).is_float()) return;
    const absl::Span<const uint8_t> bytes = event.program->ReadValue(value);
    if (bytes.empty() || betrayed_ || testing::Test::HasFailure()) return;
    ++num_checks_;
    const std::string wrong =
        FindFalseClaim(fn_.type(value), ElementsOf(fn_.type(value), bytes), axes_.Get(value), ranges_.Get(value));
    EXPECT_EQ(wrong, "") << axes_.Why(fn_, value) << "\n" << ranges_.Why(fn_, value);
  }

  const Function& fn_;
  const AxisInfoAnalysis& axes_;
  const RangeAnalysis& ranges_;
  const bool trusts_remainders_;
  bool betrayed_ = false;
  int64_t num_checks_ = 0;
};

ArgumentFacts FactsOf(const vm::RandomIntegerProgram& program) {
  ArgumentFacts facts;
  for (const vm::RandomArgument& argument : program.arguments) {
    ArgumentFact fact;
    fact.divisibility = argument.divisibility;
    fact.is_positive = argument.is_positive;
    if (argument.is_one) fact.constant = 1;
    facts.parameters.push_back(fact);
  }
  return facts;
}

class AxisInfoPropertyTest : public testing::TestWithParam<Trust> {};

TEST_P(AxisInfoPropertyTest, EveryClaimHoldsInRandomPrograms) {
  int64_t num_checks = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    const vm::RandomIntegerProgram program = vm::MakeRandomIntegerProgram(random, 60);
    const absl::Status legal = vm::VerifyModule(program.module);
    ASSERT_TRUE(legal.ok()) << legal.message() << "\n" << vm::Print(program.module);
    const auto executable = vm::Executable::Load(program.module);
    ASSERT_TRUE(executable.ok()) << executable.status().message();
    const Function& fn = (*executable)->module().functions[0];
    const ArgumentFacts facts = FactsOf(program);
    const RangeAnalysis ranges = RangeAnalysis::Run(fn, facts);
    const AxisInfoAnalysis axes = AxisInfoAnalysis::Run(fn, facts, ranges, GetParam());
    for (int run = 0; run < 4; ++run) {
      ClaimChecker checker(fn, axes, ranges, GetParam());
      vm::LaunchRequest request;
      request.grid = {2, 3, 1};
      request.options.schedule = vm::Schedule::kInOrder;
      request.options.observer = &checker;
      for (uint64_t word : program.MakeArguments(random)) request.arguments.push_back({{word}});
      request.memory.Seal();
      const vm::LaunchResult result = vm::Launch(**executable, request);
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      num_checks += checker.num_checks();
      ASSERT_FALSE(HasFailure()) << vm::Print(program.module);
    }
  }
  EXPECT_GT(num_checks, GetParam() == Trust::kNothing ? 500'000 : 200'000) << "the programs no longer compute much";
}

INSTANTIATE_TEST_SUITE_P(Trust, AxisInfoPropertyTest, testing::Values(Trust::kNothing, Trust::kRemainders),
                         [](const auto& trust) { return trust.param == Trust::kNothing ? "Nothing" : "Remainders"; });

}  // namespace
}  // namespace trivet::jit
