// Runs one op case (tests/support/case_file.h) on the interpreter: shared by the tests of ops and of passes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/case_file.h"
#include "tests/support/case_values.h"
#include "vm/base/status.h"
#include "vm/interpreter/execute.h"

namespace trivet::vm {

class StringSink : public PrintSink {
 public:
  void Write(absl::string_view text) override { absl::StrAppend(&text_, text); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class CaseRunner {
 public:
  CaseRunner(const OpCase& op_case, const Executable& executable) : case_(op_case), executable_(executable) {}

  // Errors are mistakes in the case; what the interpreter gets wrong are failures of the test.
  absl::Status Run(const CaseRun& run) {
    const Module& module = executable_.module();
    const FunctionId id = module.FindFunction(run.function);
    if (id.is_none()) return absl::InvalidArgumentError(absl::StrCat("no function '", run.function, "'"));
    const Function& function = module.function(id);
    if (run.arguments.size() != function.params().size())
      return absl::InvalidArgumentError("wrong number of arguments");
    Tensors tensors;
    for (const CaseTensor& tensor : case_.memory) TRIVET_RETURN_IF_ERROR(tensors.Add(tensor));
    std::vector<Elements> arguments;
    for (size_t i = 0; i < run.arguments.size(); ++i) {
      const Type& type = function.type(function.params()[i]);
      TRIVET_ASSIGN_OR_RETURN(
          Elements elements, ReadElements(run.arguments[i], type.AsScalar(), type.num_elements(), tensors.addresses()));
      arguments.push_back(std::move(elements));
    }
    return function.is_kernel ? LaunchKernel(run, arguments, tensors) : Evaluate(run, function, arguments);
  }

 private:
  absl::Status LaunchKernel(const CaseRun& run, const std::vector<Elements>& arguments, const Tensors& tensors) {
    StringSink sink;
    LaunchRequest request;
    request.kernel = run.function;
    request.grid = run.grid;
    request.options.schedule = Schedule::kInOrder;
    request.options.print_sink = &sink;
    for (const Elements& argument : arguments) {
      request.arguments.push_back({{static_cast<uint64_t>(argument[0].value_or(0))}});
    }
    tensors.Register(&request.memory);
    const LaunchResult result = Launch(executable_, request);
    CompareStatus(run, result.status);
    const bool has_printed = absl::StrContains(sink.text(), run.prints.value_or(""));
    EXPECT_TRUE(has_printed) << "printed: " << sink.text() << "\nexpected: " << *run.prints;
    for (const auto& [name, contents] : run.leaves) {
      TRIVET_ASSIGN_OR_RETURN(const std::string difference, tensors.Compare(name, contents));
      EXPECT_EQ(difference, "");
    }
    return absl::OkStatus();
  }

  absl::Status Evaluate(const CaseRun& run, const Function& function, const std::vector<Elements>& arguments) {
    std::vector<std::vector<uint8_t>> bytes;
    for (size_t i = 0; i < arguments.size(); ++i) {
      bytes.push_back(BytesOf(arguments[i], function.type(function.params()[i]).element_bytes()));
    }
    const auto results = EvaluateFunction(executable_, run.function, bytes);
    CompareStatus(run, results.status());
    if (!run.results || !results.ok()) return absl::OkStatus();
    if (run.results->size() != function.result_types.size())
      return absl::InvalidArgumentError("wrong number of results");
    for (size_t i = 0; i < results->size(); ++i) {
      const Type& type = function.result_types[i];
      EXPECT_EQ((*results)[i].size(), static_cast<size_t>(type.value_bytes()));
      TRIVET_ASSIGN_OR_RETURN(const Elements expected,
                              ReadElements((*run.results)[i], type.AsScalar(), type.num_elements(), {}));
      EXPECT_EQ(CompareElements(absl::StrCat("result ", i), type, (*results)[i].data(), expected, run.ulp), "");
    }
    return absl::OkStatus();
  }

  static void CompareStatus(const CaseRun& run, const absl::Status& status) {
    if (!run.traps) {
      EXPECT_TRUE(status.ok()) << status.message();
    } else {
      EXPECT_FALSE(status.ok()) << "no error, expected: " << *run.traps;
      EXPECT_TRUE(absl::StrContains(status.message(), *run.traps)) << status.message() << "\nexpected: " << *run.traps;
    }
  }

  const OpCase& case_;
  const Executable& executable_;
};

}  // namespace trivet::vm
