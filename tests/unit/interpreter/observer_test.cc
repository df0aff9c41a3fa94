// What observers see: events in order, values of all active functions, addresses of memory ops.
#include <cstring>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "tests/unit/interpreter/launch_text.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TextKernel;

// The value of this name in a function of the module.
ValueId Named(const Function& function, absl::string_view name) {
  for (uint32_t i = 0; i < function.num_values(); ++i) {
    if (function.value(ValueId(i)).name == name) return ValueId(i);
  }
  ADD_FAILURE() << "no value " << name << " in @" << function.name;
  return ValueId(0);
}

template <typename T>
std::vector<T> ElementsOf(absl::Span<const uint8_t> bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

// Writes down what happens: "+op" where an op starts, "-op" where it ends, "?1" and "?0" for branches.
class EventLog : public Observer {
 public:
  void OnProgramStart(const Program&) override { events.push_back("begin"); }
  void OnProgramEnd(const Program&) override { events.push_back("end"); }
  void OnOpStart(const OpEvent& event) override { events.push_back(absl::StrCat("+", Name(event))); }
  void OnOpEnd(const OpEvent& event) override { events.push_back(absl::StrCat("-", Name(event))); }
  void OnBranch(const OpEvent& event, bool taken) override {
    events.push_back(absl::StrCat(Name(event), taken ? "?1" : "?0"));
  }
  std::string Text() const { return absl::StrJoin(events, " "); }

  std::vector<std::string> events;

 private:
  static std::string Name(const OpEvent& event) {
    return event.module->function(event.function).op(event.op).info().text;
  }
};

TEST(ObserverTest, SeesEveryOpStartAndEnd) {
  TextKernel kernel(R"(
kernel @k() {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %2 = constant 2 : i32
  %sum = for %0, %2, %1, %0 : i32 {
  ^(%i: i32, %s: i32):
    %next = addi %s, %i
    yield %next
  }
  %is_one = cmpi %sum, %1 predicate=eq : i1
  if %is_one {
    %x = call %sum callee=@twice : i32
    yield
  } else {
    yield
  }
  return
}
func @twice(%x: i32) -> i32 {
  %y = addi %x, %x
  return %y
}
)");
  EventLog log;
  kernel.request.options.observer = &log;
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_EQ(log.Text(),
            "begin +constant -constant +constant -constant +constant -constant "
            "+for for?1 +addi -addi +yield -yield for?1 +addi -addi +yield -yield for?0 -for "
            "+cmpi -cmpi +if if?1 +call +addi -addi +return -return -call +yield -yield -if +return -return end");
}

TEST(ObserverTest, AnOpThatTrapsStartsAndDoesNotEnd) {
  TextKernel kernel(R"(
kernel @k(%p: ptr<i32>) {
  %x = load %p : i32
  return
}
)");
  EventLog log;
  kernel.request.options.observer = &log;
  const LaunchResult result = kernel.Word(0).Run(1);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(log.Text(), "begin +load");
}

// Reads values of the innermost functions at each op whose result has a certain name.
class ValueReader : public Observer {
 public:
  explicit ValueReader(std::string at) : at_(std::move(at)) {}

  void OnOpEnd(const OpEvent& event) override {
    const Function& function = event.module->function(event.function);
    const Operation& op = function.op(event.op);
    if (op.results.empty() || function.value(op.result()).name != at_) return;
    Visit(*event.program, event);
  }

 protected:
  virtual void Visit(const Program& program, const OpEvent& event) = 0;

 private:
  std::string at_;
};

TEST(ObserverTest, ReadsLoopValuesAsTheyAreInEachIteration) {
  TextKernel kernel(R"(
kernel @k(%n: i32) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %ten = constant 10 : tile<2xi32>
  %range = arange start=3 end=5 : tile<2xi32>
  %sum = for %0, %n, %1, %range : tile<2xi32> {
  ^(%i: i32, %s: tile<2xi32>):
    %next = addi %s, %ten
    yield %next
  }
  %after = addi %sum, %sum
  return
}
)");
  class Reader final : public ValueReader {
   public:
    using ValueReader::ValueReader;
    void Visit(const Program& program, const OpEvent& event) override {
      const Function& function = event.module->function(event.function);
      const auto read = [&](absl::string_view name) {
        return absl::StrJoin(ElementsOf<int32_t>(program.ReadValue(Named(function, name))), ",");
      };
      seen.push_back(absl::StrCat(read("i"), ": ", read("s"), " -> ", read("next"), " of ", read("range"), " + ",
                                  read("ten"), ", n ", read("n")));
    }
    std::vector<std::string> seen;
  };
  Reader reader("next");
  kernel.request.options.observer = &reader;
  EXPECT_TRUE(kernel.Word(3).Run(1).status.ok());
  EXPECT_THAT(reader.seen, ElementsAre("0: 3,4 -> 13,14 of 3,4 + 10,10, n 3", "1: 13,14 -> 23,24 of 3,4 + 10,10, n 3",
                                       "2: 23,24 -> 33,34 of 3,4 + 10,10, n 3"));
}

TEST(ObserverTest, ReadsValuesOfAllFunctionsThatAreActive) {
  TextKernel kernel(R"(
kernel @k(%x: i32) {
  %1 = constant 1 : i32
  %a = addi %x, %1
  %b = call %a callee=@middle : i32 loc("k.py":3:1)
  %c = call %b callee=@leaf : i32 loc("k.py":4:1)
  return
}
func @middle(%m: i32) -> i32 {
  %t = addi %m, %m
  %r = call %t callee=@leaf : i32 loc("k.py":9:1)
  %s = addi %r, %t
  return %s
}
func @leaf(%l: i32) -> i32 {
  %hundred = constant 100 : i32
  %u = addi %l, %hundred loc("k.py":12:1)
  return %u
}
)");
  class Reader final : public ValueReader {
   public:
    using ValueReader::ValueReader;
    void Visit(const Program& program, const OpEvent& event) override {
      const std::vector<ProgramFrame> frames = program.Frames();
      std::vector<std::string> texts;
      const std::map<std::string, std::vector<std::string>> names{
          {"leaf", {"l", "hundred", "u"}}, {"middle", {"m", "t"}}, {"k", {"x", "a", "b"}}};
      for (size_t depth = 0; depth < frames.size(); ++depth) {
        const Function& function = event.module->function(frames[depth].function);
        std::string text =
            absl::StrCat(function.name, " ", event.module->LocationToString(function.op(frames[depth].op).location));
        for (const std::string& name : names.at(function.name)) {
          const auto elements = ElementsOf<int32_t>(program.ReadValue(depth, Named(function, name)));
          absl::StrAppend(&text, " ", name, "=", elements.at(0));
        }
        texts.push_back(text);
      }
      EXPECT_THAT(program.ReadValue(frames.size(), ValueId(0)), IsEmpty());
      seen.push_back(absl::StrJoin(texts, "; "));
    }
    std::vector<std::string> seen;
  };
  Reader reader("u");
  kernel.request.options.observer = &reader;
  EXPECT_TRUE(kernel.Word(4).Run(1).status.ok());
  EXPECT_THAT(reader.seen, ElementsAre("leaf k.py:12:1 l=10 hundred=100 u=110; middle k.py:9:1 m=5 t=10; "
                                       "k k.py:3:1 x=4 a=5 b=0",
                                       "leaf k.py:12:1 l=120 hundred=100 u=220; k k.py:4:1 x=4 a=5 b=120"));
}

TEST(ObserverTest, ValuesThatShareBitsAndThoseInRegions) {
  TextKernel kernel(R"(
kernel @k() {
  %range = arange start=0 end=4 : tile<4xi32>
  %square = reshape %range : tile<2x2xi32>
  %bits = bitcast %square : tile<2x2xf32>
  %sum = reduce %range axis=0 : i32 {
  ^(%a: i32, %b: i32):
    %c = addi %a, %b
    yield %c
  }
  %at = addi %sum, %sum
  return
}
)");
  class Reader final : public ValueReader {
   public:
    using ValueReader::ValueReader;
    void Visit(const Program& program, const OpEvent& event) override {
      const Function& function = event.module->function(event.function);
      const auto read = [&](absl::string_view name) { return program.ReadValue(Named(function, name)); };
      EXPECT_THAT(ElementsOf<int32_t>(read("square")), ElementsAre(0, 1, 2, 3));
      EXPECT_THAT(ElementsOf<int32_t>(read("bits")), ElementsAre(0, 1, 2, 3));
      EXPECT_THAT(ElementsOf<int32_t>(read("sum")), ElementsAre(6));
      EXPECT_THAT(read("a"), IsEmpty());
      EXPECT_THAT(read("c"), IsEmpty());
      ++visits;
    }
    int visits = 0;
  };
  Reader reader("at");
  kernel.request.options.observer = &reader;
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_EQ(reader.visits, 1);
}

// Each memory op in words: what, and the elements it touches from the array's start.
class MemoryLog : public Observer {
 public:
  MemoryLog(uint64_t base, const int32_t* data) : base_(base), data_(data) {}
  void OnLoad(const MemoryEvent& event) override { Add("load", event); }
  void OnStore(const MemoryEvent& event) override { Add("store", event); }
  void OnAtomic(const MemoryEvent& event) override { Add("atomic", event); }
  std::vector<std::string> events;

 private:
  void Add(const char* what, const MemoryEvent& event) {
    EXPECT_EQ(event.element_bytes, 4);
    std::vector<std::string> lanes;
    for (size_t i = 0; i < event.addresses.size(); ++i) {
      const bool is_active = event.active.empty() || event.active[i] != 0;
      lanes.push_back(is_active ? absl::StrCat((event.addresses[i] - base_) / 4) : "_");
    }
    events.push_back(absl::StrCat(event.at.module->function(event.at.function).op(event.at.op).info().text, " ", what,
                                  " ", absl::StrJoin(lanes, " "), ", x[0]=", data_[0]));
  }

  uint64_t base_;
  const int32_t* data_;
};

TEST(ObserverTest, SeesTheElementsOfMemoryOpsBeforeTheyChange) {
  std::vector<int32_t> x(12, 7);
  TextKernel kernel(R"(
kernel @k(%x: ptr<i32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %2 = constant 2 : i32
  %3 = constant 3 : i32
  %4 = constant 4 : i32
  %m1 = constant -1 : i32
  %l1 = constant 1 : i64
  %l3 = constant 3 : i64
  %l4 = constant 4 : i64
  %range = arange start=0 end=4 : tile<4xi32>
  %twos = constant 2 : tile<4xi32>
  %mask = cmpi %range, %twos predicate=ne : tile<4xi1>
  %ps = splat %x : tile<4xptr<i32>>
  %p = addptr %ps, %range
  store %x, %1
  %a = load %p, %mask : tile<4xi32>
  store %p, %range, %mask
  %old = atomic_rmw %p, %twos, %mask kind=add : tile<4xi32>
  %seen = atomic_cas %x, %2, %0 : i32
  %block = make_block_ptr %x, %l3, %l4, %l4, %l1, %1, %2 order=[1, 0] : blockptr<2x2xi32>
  %b = block_load %block boundary_check=[0] : tile<2x2xi32>
  %desc = make_desc %x, %3, %4, %l4, %l1 : desc<2x2xi32>
  %d = desc_load %desc, %2, %3 : tile<2x2xi32>
  desc_store %desc, %d, %m1, %m1
  desc_reduce %desc, %b, %0, %0 kind=add
  %row = make_desc %x, %3, %4, %l4, %l1 : desc<1x4xi32>
  %gathered = desc_gather %row, %range, %2 : tile<4x4xi32>
  return
}
)");
  kernel.Array("x", x, DType::kI32);
  MemoryLog log(reinterpret_cast<uint64_t>(x.data()), x.data());
  kernel.request.options.observer = &log;
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_THAT(log.events,
              ElementsAre("store store 0, x[0]=7", "load load 0 1 _ 3, x[0]=1", "store store 0 1 _ 3, x[0]=1",
                          "atomic_rmw atomic 0 1 _ 3, x[0]=0", "atomic_cas atomic 0, x[0]=2",
                          "block_load load 6 7 10 11, x[0]=0", "desc_load load 11 _ _ _, x[0]=0",
                          "desc_store store _ _ _ 0, x[0]=0", "desc_reduce atomic 0 1 4 5, x[0]=0",
                          // One row after another; the last lies outside.
                          "desc_gather load 2 3 _ _, x[0]=7", "desc_gather load 6 7 _ _, x[0]=7",
                          "desc_gather load 10 11 _ _, x[0]=7", "desc_gather load _ _ _ _, x[0]=7"));
}

// Where a pointer comes from decides which tensor a message names.
TEST(ProvenanceTest, FollowsPointersThroughCallsLoopsAndBlocks) {
  struct Case {
    const char* body;
    const char* message;
  };
  const Case cases[] = {
      // From one parameter, whatever the way.
      {"%p = call %x, %far callee=@move : ptr<i32>\n %v = load %p : i32", "x[1000] is outside shape [4]"},
      {"%p = for %0, %far, %1, %x : ptr<i32> {\n ^(%i: i32, %q: ptr<i32>):\n %n = addptr %q, %1\n yield %n\n }\n"
       " %v = load %p : i32",
       "x[1000] is outside shape [4]"},
      {"%p = select %is_zero, %x, %x : ptr<i32>\n %q = addptr %p, %far\n store %q, %1", "x[1000] is outside shape [4]"},
      {"%q = addptr %x, %far\n %b = make_block_ptr %q, %l4, %l1, %0 order=[0] : blockptr<4xi32>\n"
       " %m = advance %b, %1 : blockptr<4xi32>\n %v = block_load %m : tile<4xi32>",
       "block load is out of bounds: x[1001] is outside shape [4]"},
      {"%q = addptr %y, %far\n %d = make_desc %q, %4, %l1 : desc<4xi32>\n %v = desc_load %d, %0 : tile<4xi32>",
       "descriptor load is out of bounds: y[1000] is outside shape [4]"},
      // From one or the other: the nearest, which depends on where the two lie.
      {"%p = select %is_zero, %x, %y : ptr<i32>\n %q = addptr %p, %far\n %v = load %q : i32", "] is outside shape [4]"},
      // Through an integer: foreign.
      {"%i = ptr_to_int %x : i64\n %j = subi %i, %i\n %k = addi %j, %l64k\n %p = int_to_ptr %k : ptr<i32>\n"
       " %v = load %p : i32",
       "load is out of bounds: pointer points to address 0x2000, which is no memory of this launch"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    std::vector<int32_t> x(4), y(4);
    TextKernel kernel(absl::StrCat(R"(
kernel @k(%x: ptr<i32>, %y: ptr<i32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %4 = constant 4 : i32
  %far = constant 1000 : i32
  %l1 = constant 1 : i64
  %l4 = constant 4 : i64
  %l64k = constant 8192 : i64
  %id = program_id axis=0 : i32
  %is_zero = cmpi %id, %0 predicate=eq : i1
  )",
                                   c.body, R"(
  return
}
func @move(%p: ptr<i32>, %by: i32) -> ptr<i32> {
  %q = addptr %p, %by
  return %q
}
)"));
    kernel.Array("x", x, DType::kI32).Array("y", y, DType::kI32);
    const LaunchResult result = kernel.Run(1);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kOutOfBounds);
    EXPECT_THAT(result.trap->message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace trivet::vm
