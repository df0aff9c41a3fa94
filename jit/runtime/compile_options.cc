#include "absl/strings/str_cat.h"
#include "jit/runtime/compile.h"

namespace trivet::jit {

std::string CompileOptions::KeyText() const {
  std::string text =
      absl::StrCat("kernel=", kernel, ";target=", target, ";num_warps=", num_warps, ";num_stages=", num_stages,
                   ";num_ctas=", num_ctas, ";max_registers=", max_registers, ";parameters=");
  for (const ParameterFacts& facts : parameters) {
    absl::StrAppend(&text, facts.divisibility);
    if (facts.value.has_value()) absl::StrAppend(&text, "=", *facts.value);
    text += ',';
  }
  return text;
}

}  // namespace trivet::jit
