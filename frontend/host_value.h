// HostValue: a Python object that occurs while compiling, behind one small interface.
//
// The frontend never sees Python.h. Whatever it can compute itself (numbers, strings, types, tuples) it takes out of
// the host object at once; the rest (modules, classes, functions, enumerations, arbitrary objects) stays behind this
// interface. python/bindings implements it over CPython; tests implement it over a map.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/ast.h"
#include "vm/bytecode/types.h"

namespace trivet::frontend {

class HostValue;
using HostPtr = std::shared_ptr<HostValue>;

enum class HostKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kType,      // an element type, pointer type or tile type of the language
  kTuple,     // tuple, list or named tuple
  kFunction,  // a @jit function
  kBuiltin,   // an operation of the language, by name: "load", "math.exp"
  kHostCall,  // a plain Python callable that may run at compile time (constexpr_function, dtype constructors)
  kCallable,  // any other Python function, which kernels can't call
  kModule,    // a module: attributes only
  kClass,     // a class: attributes, and constants through it
  kObject,    // anything else
};

class HostValue {
 public:
  virtual ~HostValue() = default;

  virtual HostKind kind() const = 0;
  // True if the object was wrapped in tl.constexpr. The other members look through the wrapper.
  virtual bool is_constexpr() const = 0;
  // Of kBool and kInt: the value as decimal digits; of kString: the text; of kBuiltin: its name; else a short
  // description for messages ("module 'torch'").
  virtual std::string text() const = 0;
  virtual double number() const = 0;  // of kFloat
  virtual vm::Type type() const = 0;  // of kType
  virtual bool is_void_type() const { return false; }
  virtual std::vector<HostPtr> items() const = 0;                      // of kTuple
  virtual std::vector<std::string> field_names() const { return {}; }  // of a named tuple
  // An identity that is equal for equal objects during one compilation: for keys of specialised helpers.
  virtual std::string key() const = 0;
  // Attribute `name`; nullptr if there is none.
  virtual absl::StatusOr<HostPtr> GetAttribute(absl::string_view name) const = 0;
  // Names that GetAttribute knows, for suggestions in messages.
  virtual std::vector<std::string> attribute_names() const { return {}; }
  // Calls the object with host values.
  virtual absl::StatusOr<HostPtr> Call(const std::vector<HostPtr>& arguments,
                                       const std::vector<std::pair<std::string, HostPtr>>& keywords) const = 0;
  // `this op other` by the host's own rules, for objects the frontend knows nothing about. op as in ast.h, or
  // "isinstance", "issubclass".
  virtual absl::StatusOr<HostPtr> Binary(absl::string_view op, const HostPtr& other) const = 0;

  // Of kFunction: the tree, parsed at the first call; an error if its source can't be read.
  virtual absl::StatusOr<const FunctionDef*> function_def() const = 0;
  // Of kFunction: the object that a free name of the function means (closure, then globals, then builtins); nullptr if
  // it means nothing.
  virtual HostPtr LookUp(absl::string_view name) const = 0;
  // Of kFunction: true if the global is annotated `name: tl.constexpr`.
  virtual bool IsConstexprGlobal(absl::string_view name) const = 0;
  // Of kFunction: the evaluated default of a parameter; nullptr if there is none.
  virtual HostPtr DefaultOf(absl::string_view parameter) const = 0;
  // Of kFunction: facts about it. "library": it belongs to the language, not to the author.
  virtual bool FunctionFlag(absl::string_view /*flag*/) const { return false; }
};

// Makes host values, and what only the host knows.
class Host {
 public:
  virtual ~Host() = default;
  virtual HostPtr MakeNone() = 0;
  virtual HostPtr MakeBool(bool value) = 0;
  virtual HostPtr MakeInt(absl::string_view decimal_digits) = 0;
  virtual HostPtr MakeFloat(double value) = 0;
  virtual HostPtr MakeString(absl::string_view text) = 0;
  virtual HostPtr MakeType(const vm::Type& type) = 0;
  // A tuple; a named one if there are `fields`.
  virtual HostPtr MakeTuple(const std::vector<HostPtr>& items, const std::vector<std::string>& fields) = 0;
  // The language's own function `name` (tl.sum), for tensor methods; nullptr if there is none.
  virtual HostPtr LanguageMember(absl::string_view name) = 0;
  // static_print.
  virtual void Print(absl::string_view text) = 0;
  // A deprecation or portability warning.
  virtual void Warn(absl::string_view text) = 0;
  // Python's format(value, spec) for f-strings; conversion is "r", "s", "a" or "".
  virtual absl::StatusOr<std::string> Format(const HostPtr& value, absl::string_view spec,
                                             absl::string_view conversion) = 0;
};

}  // namespace trivet::frontend
