// Dispatch to the handlers of builtins.def: finds the row, binds arguments to its signature.
#include "frontend/builtins.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace trivet::frontend {

#define TRIVET_BUILTIN(Handler, name, signature) Value Builtin##Handler(FunctionLowering& fl, BuiltinCall& call);
#define TRIVET_METHOD(name)
#include "frontend/builtins.def"

namespace {

constexpr Builtin kBuiltins[] = {
#define TRIVET_BUILTIN(Handler, name, signature) {name, signature, &Builtin##Handler},
#define TRIVET_METHOD(name)
#include "frontend/builtins.def"
};

struct SignatureParameter {
  std::string name;
  bool is_variadic = false;
  bool is_mapping = false;  // **changes: any further keywords
  bool is_keyword_only = false;
  std::optional<Value> default_value;
};

// The value of a default in a signature: the few literals that builtins.def allows.
Value ParseDefault(absl::string_view text) {
  if (text == "None") return Value::None();
  if (text == "True") return Value::Of(true);
  if (text == "False") return Value::Of(false);
  if (text == "()") return Value::Tuple({});
  if (text == "float32") return Value::Of(vm::Type::Scalar(vm::DType::kF32));
  if (text[0] == '\'') return Value::Of(std::string(text.substr(1, text.size() - 2)));
  int64_t number = 0;
  (void)absl::SimpleAtoi(text, &number);  // the only thing left
  return Value::Of(Int{number});
}

std::vector<SignatureParameter> ParseSignature(absl::string_view signature) {
  std::vector<SignatureParameter> parameters;
  size_t begin = 0;
  bool after_variadic = false;
  while (begin < signature.size()) {
    // A comma ends a parameter; none of the defaults holds one.
    const size_t end = std::min(signature.find(", ", begin), signature.size());
    absl::string_view one = signature.substr(begin, end - begin);
    SignatureParameter p;
    p.is_keyword_only = after_variadic;
    if (const size_t equals = one.find('='); equals != absl::string_view::npos) {
      p.default_value = ParseDefault(one.substr(equals + 1));
      one = one.substr(0, equals);
    }
    p.is_mapping = absl::StartsWith(one, "**");
    p.is_variadic = one[0] == '*' && !p.is_mapping;
    after_variadic = after_variadic || p.is_variadic;
    p.name = std::string(one.substr(p.is_mapping ? 2 : p.is_variadic ? 1 : 0));
    parameters.push_back(std::move(p));
    begin = end + 2;
  }
  return parameters;
}

struct Entry {
  const Builtin* builtin;
  std::vector<SignatureParameter> parameters;
};

const absl::flat_hash_map<std::string, Entry>& Table() {
  static const auto* const table = [] {
    auto* made = new absl::flat_hash_map<std::string, Entry>();
    for (const Builtin& b : kBuiltins) made->emplace(b.name, Entry{&b, ParseSignature(b.signature)});
    return made;
  }();
  return *table;
}

// "tl.load", "libdevice.tanh", "len".
std::string ShownName(absl::string_view name) {
  if (absl::StartsWith(name, "py.")) return std::string(name.substr(3));
  if (absl::StartsWith(name, "libdevice.") || absl::StartsWith(name, "desc.")) return std::string(name);
  if (absl::StartsWith(name, "cuda.")) return absl::StrCat("tl.extra.", name);
  return absl::StrCat("tl.", name);
}

}  // namespace

absl::Span<const Builtin> AllBuiltins() { return kBuiltins; }

bool IsBuiltin(absl::string_view name) { return Table().contains(name); }

bool IsTensorMethod(absl::string_view name) {
  static const auto* const names = new absl::flat_hash_set<absl::string_view>{
#define TRIVET_BUILTIN(Handler, name, signature)
#define TRIVET_METHOD(name) name,
#include "frontend/builtins.def"
  };
  return names->contains(name);
}

Value FunctionLowering::CallBuiltin(const std::string& name, CallArguments arguments) {
  auto it = Table().find(absl::StartsWith(name, "libdevice.") ? "libdevice.*" : name);
  const std::string shown = ShownName(name);
  if (it == Table().end()) return Error(absl::StrCat(shown, " is not supported"));
  const Entry& entry = it->second;
  BuiltinCall call;
  call.name = name;
  size_t next = 0;
  for (const SignatureParameter& p : entry.parameters) {
    if (p.is_mapping) {
      call.keywords = std::exchange(arguments.keywords, {});
      continue;
    }
    if (p.is_variadic) {
      while (next < arguments.positional.size()) call.variadic.push_back(arguments.positional[next++]);
      // As in Triton, a shape may also come by its name.
      auto named = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                [&](const auto& k) { return k.first == p.name; });
      if (named != arguments.keywords.end() && call.variadic.empty()) {
        call.variadic.push_back(named->second);
        arguments.keywords.erase(named);
      }
      continue;
    }
    auto keyword = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                [&](const auto& k) { return k.first == p.name; });
    if (!p.is_keyword_only && next < arguments.positional.size()) {
      if (keyword != arguments.keywords.end()) {
        return emitter_.ErrorAbout(keyword->second,
                                   absl::StrCat(shown, "() got multiple values for argument '", p.name, "'"));
      }
      call.arguments.push_back(arguments.positional[next++]);
    } else if (keyword != arguments.keywords.end()) {
      call.arguments.push_back(keyword->second);
      arguments.keywords.erase(keyword);
    } else if (p.default_value) {
      call.arguments.push_back(*p.default_value);
    } else {
      return Error(absl::StrCat(shown, "() is missing the argument '", p.name, "'"),
                   absl::StrCat("the signature is ", shown, "(", entry.builtin->signature, ")"));
    }
  }
  if (next < arguments.positional.size()) {
    return Error(absl::StrCat(shown, "() takes ", Count(entry.parameters.size(), "argument"), ", found ",
                              arguments.positional.size()),
                 absl::StrCat("the signature is ", shown, "(", entry.builtin->signature, ")"));
  }
  if (!arguments.keywords.empty()) {
    return emitter_.ErrorAbout(
        arguments.keywords[0].second,
        absl::StrCat(shown, "() got an unexpected keyword argument '", arguments.keywords[0].first, "'"),
        absl::StrCat("the signature is ", shown, "(", entry.builtin->signature, ")"));
  }
  for (const Value& v : call.arguments) {
    if (v.is_error()) return v;
  }
  for (const Value& v : call.variadic) {
    if (v.is_error()) return v;
  }
  for (const auto& [keyword, v] : call.keywords) {
    if (v.is_error()) return v;
  }
  const std::string outer = emitter_.ExchangeContext(shown);
  Value result = entry.builtin->handler(*this, call);
  emitter_.ExchangeContext(outer);
  return result;
}

Value CallTypeMethod(FunctionLowering& fl, const vm::Type& type, const std::string& name,
                     const CallArguments& arguments) {
  using vm::DType;
  const auto flag = [](bool b) { return Value::Of(b); };
  if (name == "to" && arguments.positional.size() == 1) return Value::Of(type);
  const bool pointer = type.is_pointer(), tile = type.is_tile();
  const bool number = !type.is_none() && !pointer;
  const DType t = type.is_none() ? DType::kI32 : type.dtype();
  const int bits = vm::InfoOf(t).bits;
  if (name == "is_ptr") return flag(pointer);
  if (name == "is_block") return flag(tile);
  if (name == "is_void") return flag(type.is_none());
  if (name == "is_const") return flag(false);
  if (name == "is_floating") return flag(number && vm::IsFloat(t));
  if (name == "is_standard_floating") return flag(number && vm::IsFloat(t) && bits >= 16);
  if (name == "is_fp8") return flag(number && vm::IsFloat(t) && bits == 8);
  if (name == "is_fp16") return flag(number && t == DType::kF16);
  if (name == "is_bf16") return flag(number && t == DType::kBF16);
  if (name == "is_fp32") return flag(number && t == DType::kF32);
  if (name == "is_fp64") return flag(number && t == DType::kF64);
  if (name == "is_fp8e4nv") return flag(number && t == DType::kF8E4M3);
  if (name == "is_fp8e5") return flag(number && t == DType::kF8E5M2);
  if (name == "is_fp8e4b8") return flag(number && t == DType::kF8E4B8);
  if (name == "is_fp8e5b16") return flag(number && t == DType::kF8E5B16);
  if (name == "is_fp8e4b15") return flag(number && t == DType::kF8E4B15);
  if (name == "is_int") return flag(number && vm::IsInteger(t));
  if (name == "is_bool" || name == "is_int1") return flag(number && t == DType::kI1);
  if (name == "is_int_signed") return flag(number && vm::IsSignedInteger(t));
  if (name == "is_int_unsigned") return flag(number && vm::IsInteger(t) && !vm::IsSignedInteger(t));
  for (const auto& [spelling, dtype] :
       {std::pair("is_int8", DType::kI8), std::pair("is_int16", DType::kI16), std::pair("is_int32", DType::kI32),
        std::pair("is_int64", DType::kI64), std::pair("is_uint8", DType::kU8), std::pair("is_uint16", DType::kU16),
        std::pair("is_uint32", DType::kU32), std::pair("is_uint64", DType::kU64)}) {
    if (name == spelling) return flag(number && t == dtype);
  }
  if (name == "get_block_shapes") {
    std::vector<Value> items;
    for (int64_t extent : type.shape()) items.push_back(Value::Of(Int{extent}));
    return Value::Tuple(std::move(items));
  }
  if (name == "get_int_min_value" && number && vm::IsInteger(t)) {
    return Value::Of(vm::IsSignedInteger(t) ? -(Int{1} << (bits - 1)) : Int{0});
  }
  if (name == "get_int_max_value" && number && vm::IsInteger(t)) {
    return Value::Of(vm::IsSignedInteger(t) ? (Int{1} << (bits - 1)) - 1 : (Int{1} << bits) - 1);
  }
  // What the language's dtype object computes in Python.
  HostPtr self = fl.ToHost(Value::Of(type), "the type");
  absl::StatusOr<HostPtr> member = self->GetAttribute(name);
  if (member.ok() && *member != nullptr) return fl.Call(fl.FromHost(*member), arguments);
  return fl.Error(absl::StrCat(TritonName(type), " has no attribute '", name, "'"));
}

}  // namespace trivet::frontend
