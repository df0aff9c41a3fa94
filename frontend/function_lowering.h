// FunctionLowering: the body of one function, statement by statement, into bytecode.
//
// One object per function and set of argument types, or per inlined combine function. Expressions give Values
// (value.h); statements change the table of variables and the region that ops are appended to. Conditions and loop
// bounds that are known while compiling decide here; code behind them is never looked at.
//
// Files: lower_statement.cc, lower_control.cc (if, for, while), lower_expression.cc, lower_call.cc,
// lower_aggregate.cc, builtins*.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "frontend/ast.h"
#include "frontend/compiler.h"
#include "frontend/emitter.h"
#include "frontend/read_only.h"
#include "frontend/value.h"

namespace trivet::frontend {

// A compiled helper: which function of the module, and the shape of what it returns.
struct Helper {
  std::unique_ptr<vm::Function> function;
  Value returns;                  // run-time values inside are those of the helper; only structure and types count
  bool keeps_known = false;       // the known constants in `returns` hold for every call
  std::vector<ValueId> returned;  // the run-time values of the first return, for ReadOnlyPointers
  bool is_done = false;
  bool has_failed = false;
};

// What all functions of one compilation share.
struct Compilation {
  Host& host;
  const CompileRequest& request;
  Diagnostics diagnostics;
  std::vector<std::string> files;
  // The kernel first, then helpers in the order of their first call.
  std::vector<std::unique_ptr<Helper>> helpers;
  absl::flat_hash_map<std::string, size_t> helper_by_key;
  absl::flat_hash_map<std::string, int> name_counts;
  std::vector<GlobalUse> globals;
  absl::flat_hash_map<const vm::Function*, ReadOnlyPointers> read_only;
  int64_t ops_made = 0;
  int64_t rounds = 0;  // of unrolled loops and comprehensions

  uint32_t InternFile(const std::string& file);
  // A function name that is not taken yet.
  std::string UniqueName(const std::string& name);
};

class FunctionLowering;

// The arguments of a call as written: positions (starred tuples opened) and keywords.
struct CallArguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
  SourceSpan span;
};

class FunctionLowering : private Emitter::Reporter {
 public:
  // `caller` is the function this one was called from, for messages; null for the kernel.
  FunctionLowering(Compilation& compilation, HostPtr host_function, const FunctionDef& def, vm::Function* function,
                   RegionId region, const FunctionLowering* caller, SourceSpan call_span);

  Emitter& emitter() { return emitter_; }
  Compilation& compilation() { return compilation_; }
  const FunctionDef& def() const { return def_; }
  Host& host() { return compilation_.host; }
  ReadOnlyPointers& read_only() { return compilation_.read_only[&function()]; }
  // Reports a write through a pointer that is for reading only. False after that.
  bool MayWrite(const Value& pointer, absl::string_view what);
  // True while the condition of a while loop is lowered.
  bool in_while_condition() const { return in_while_condition_; }

  void Bind(const std::string& name, Value value) {
    value.set_span({});  // it is the caller's
    variables_[name] = std::move(value);
  }
  // Lowers the whole body of a kernel or helper and ends it with a return. Gives what it returns.
  Value LowerFunction(bool is_kernel, bool* keeps_known);
  // Lowers the body in place, in the caller's region: its only return ends it. See CanInline.
  Value LowerInline();
  // True if the only return is the last statement of the body.
  static bool CanInline(const FunctionDef& def);

  // Notes that the kernel uses `what`, which Triton refuses. False if that was reported as an error (TRIVET_PORTABLE).
  bool AllowExtension(absl::string_view what, absl::string_view portable_way) override;
  // Reports at the current span; inside a function of the language's library, at the author's call of it.
  Value Error(std::string message, std::string hint = "");
  // After a mistake that makes the rest of this function pointless: nothing more of it is looked at.
  void Abandon() { terminated_ = true; }
  // True inside a helper, however deep.
  bool is_helper() const { return caller_ != nullptr; }
  // Counts a round of an unrolled loop or comprehension; false, and an error, once there are too many in all.
  bool CountRound();
  // The constants that a range gives; nothing after an error. `what` names it in messages.
  std::optional<std::vector<Value>> ConstantRange(const Value& range, absl::string_view what);

  Value LowerExpr(const Expr& expr);
  // The value of a host object: numbers, strings, types and tuples are taken over.
  Value FromHost(const HostPtr& host);
  // The host object of a constant value; nullptr after an error. `what` names it in the message.
  HostPtr ToHost(const Value& value, absl::string_view what);

  Value Call(const Value& callee, CallArguments arguments);
  // is_constructor: the first argument is an aggregate without fields, and what comes back is the aggregate.
  Value CallFunction(const HostPtr& function, CallArguments arguments, bool is_constructor = false);
  // Calls a combine function of scalars, a @jit function or a lambda, inside a region: inlined where possible.
  Value CallInRegion(const Value& function, std::vector<Value> arguments);
  Value CallBuiltin(const std::string& name, CallArguments arguments);
  Value CallMethod(const Value& method, CallArguments arguments);
  Value GetAttribute(const Value& value, const std::string& name);
  Value GetItem(const Value& value, const Value& index);
  // Sets a field of an aggregate to a value that its class allows there. False after an error. Where it is an
  // assignment, numbers become run-time values as they do in assignments to names.
  bool SetField(Value* aggregate, const std::string& name, const Value& given, bool is_assignment = false);

  // The region that ops go to; for code that makes regions (reduce, if, ...).
  vm::Function& function() { return emitter_.builder().function(); }
  // Numbers become run-time scalars, also inside tuples; other values stay.
  Value Materialize(const Value& value);
  // A condition as an i1 scalar; an error for a tile of several elements.
  Value ToCondition(const Value& value, absl::string_view what);

 private:
  void ReportError(std::string message, std::string hint) override { Error(std::move(message), std::move(hint)); }
  void ReportErrorAt(const SourceSpan& span, std::string message, std::string hint) override {
    SpanScope scope(this, span);
    Error(std::move(message), std::move(hint));
  }

  using Variables = std::map<std::string, Value>;

  // Sets the current span (of messages and ops) for a scope.
  class SpanScope {
   public:
    SpanScope(FunctionLowering* lowering, const SourceSpan& span);
    ~SpanScope();

   private:
    FunctionLowering* lowering_;
    SourceSpan saved_;
  };

  // One enclosing loop.
  struct Loop {
    bool is_static = false;
    std::vector<std::string> carried;  // names
    std::vector<Value> initial;        // their values at the start, for structure
    Variables fixed;         // assigned in the body too, but known only to the compiler: must stay as they are
    RegionId region;         // static: where the unrolled body goes
    bool broken = false;     // static: a break was reached
    bool continued = false;  // static: a continue was reached in this round
  };

  // Statements; all but LowerBody are called with the current span set.
  void LowerBody(const std::vector<StmtPtr>& body);
  void LowerStmt(const Stmt& stmt);
  void LowerReturn(const Stmt& stmt);
  void LowerReturnOf(Value value);
  void LowerAssert(const Stmt& stmt);
  void LowerRaise(const Stmt& stmt);
  void Assign(const Expr& target, const Value& value);
  void AssignName(const std::string& name, const Value& value);
  // As an assignment statement does: numbers become run-time values, unless the name was declared a compile-time one
  // (`x: tl.constexpr` without a value). The target may be a kNamedExpr too.
  void AssignDecaying(const Expr& target, Value value);
  // The compile-time value that a variable of that kind holds; an error if it is known at run time only.
  Value ToConstexpr(const Value& value);
  void AssignItem(const Expr& target, const Value& value);
  void LowerAugAssign(const Stmt& stmt);
  void LowerAnnAssign(const Stmt& stmt);

  // Control flow.
  void LowerIf(const Stmt& stmt);
  void LowerDynamicIf(const Stmt& stmt, const Value& condition);
  void LowerFor(const Stmt& stmt);
  void LowerStaticFor(const Stmt& stmt, const std::vector<Value>& values);
  // Start, end and step of a loop at run time, of one integer type.
  std::optional<std::vector<Value>> RangeBounds(const Value& range);
  void LowerDynamicFor(const Stmt& stmt, const RangeOptions& options, const std::vector<Value>& bounds);
  // After a mistake in the head of an if or a loop: looks for further mistakes in the bodies. What they assign is
  // unknown.
  void LookForMistakes(const std::vector<const std::vector<StmtPtr>*>& bodies, const Expr* target);
  // Enters a region of an if or a loop; false, and an error, if that is deeper than bytecode may be. See Leave.
  bool Enter(absl::string_view what);
  void Leave() { --nesting_; }
  // The statement is not in the language: names that it would define are unknown.
  void RefuseStatement(const Stmt& stmt, const std::string& what, std::string hint = "");
  // Says why names that only `body` assigns are missing.
  void ForgetUntaken(const std::vector<StmtPtr>& body, std::string reason);
  // After a loop: what could not be carried is unknown.
  void DropFailed();
  // The span of the statement that assigned the name last.
  SourceSpan AssignedAt(const std::string& name) const;
  void LowerWhile(const Stmt& stmt);
  void LowerWhileLoop(const Stmt& stmt);
  void LowerBreakOrContinue(bool is_break);
  // The variables that a loop changes in its body or its condition (may be null), made run-time values; fills
  // loop->carried, initial and fixed.
  std::vector<ValueId> PrepareCarried(const std::vector<StmtPtr>& body, const Expr* condition, Loop* loop);
  // Current values of the carried variables, checked against their initial types; nothing after an error.
  std::optional<std::vector<ValueId>> CarriedNow(const Loop& loop, absl::string_view where);
  void BindCarried(const Loop& loop, absl::Span<const ValueId> ids);
  void ForgetNew(const Variables& before, absl::string_view reason);
  // Ends a branch region with a yield of the merged variables.
  struct Branch {
    RegionId region;
    Variables variables;
    std::map<std::string, SourceSpan> assigned_at;  // as of its end
    bool is_terminated = false;
  };
  Branch LowerBranch(const std::vector<StmtPtr>& body, const Variables& start);
  // Elements of a tile (lower_index.cc).
  Value GetTileItem(const Value& tile, const std::vector<Value>& indices);
  Value SetTileItem(const Value& tile, const std::vector<Value>& indices, const Value& value);
  // Expression forms.
  Value LowerName(const Expr& expr);
  Value LowerBool(const Expr& expr);
  Value LowerCompare(const Expr& expr);
  Value CompareOne(const std::string& op, const Value& a, const Value& b);
  Value LowerCall(const Expr& expr);
  Value LowerIfExp(const Expr& expr);
  Value CallLambda(const Value& lambda, const CallArguments& arguments);
  Value LowerFString(const Expr& expr);
  Value LowerListComp(const Expr& expr);
  Value BinaryValues(const std::string& op, const Value& a, const Value& b);
  Value HostBinary(const std::string& op, const Value& a, const Value& b);
  // True if the language has the operation as a method of such values.
  bool HasMethod(const Value& self, absl::string_view name);
  Value TypeAttribute(const vm::Type& type, const std::string& name);
  bool BindParameters(const FunctionDef& def, const HostPtr& host_function, CallArguments* arguments,
                      std::vector<std::pair<std::string, Value>>* bound);
  // The calls that led to the function, innermost first.
  std::vector<std::string> CallChain() const;
  // True if the callee would be nested too deep: a recursion that never ends.
  bool IsTooDeep() const;
  Value RecursionError(const FunctionDef& def);
  // The error of calling what kernels can't call, with a hint.
  Value NotCallable(const HostPtr& target);
  // Reports a statement that calls a function marked must_use_result and drops what it gives.
  void CheckResultMayBeUnused(const Expr& expr);
  // An instance of one of the language's own classes: tl.constexpr_type(...).
  absl::StatusOr<HostPtr> MakeLanguageObject(absl::string_view cls, const std::vector<HostPtr>& arguments);
  // Aggregates (lower_aggregate.cc). An instance made in Python; nothing if it is another object.
  std::optional<Value> AggregateFromHost(const HostPtr& instance);
  // An instance for Python to look at; of run-time values in it only the type can be seen.
  HostPtr AggregateToHost(const Value& value, absl::string_view what);
  // A call of an aggregate's class; nothing if `cls` is not one.
  std::optional<Value> MakeAggregate(const HostPtr& cls, CallArguments arguments);
  // What the constructor that is being lowered gives.
  Value Constructed();
  // A method or other member of the class, bound to `self` unless that is null; nothing if there is none.
  std::optional<Value> AggregateMember(const HostPtr& cls, const Value* self, const std::string& name);
  Value AggregateAttribute(const Value& value, const std::string& name);
  // Calls a method by its name; `what` it is for completes the message "Pair ..." if there is none.
  Value CallAggregate(const Value& self, const std::string& method, std::vector<Value> arguments,
                      absl::string_view what);
  Value AggregateOperator(const std::string& op, const Value& a, const Value& b);
  // A call of a named tuple's class; nothing if `target` is not one.
  std::optional<Value> MakeNamedTuple(const HostPtr& target, const CallArguments& arguments);

  Compilation& compilation_;
  HostPtr host_function_;
  const FunctionDef& def_;
  const FunctionLowering* caller_;
  SourceSpan call_span_;
  Emitter emitter_;
  Variables variables_;
  std::map<std::string, std::string> unavailable_;  // name: why it can't be used here
  std::set<std::string> declared_constexpr_;        // names declared so that have no value yet
  std::map<std::string, SourceSpan> assigned_at_;   // name: the statement that assigned it last
  std::set<std::string> failed_;                    // carried variables of the current loop that change their type
  std::vector<Loop> loops_;
  bool terminated_ = false;  // the current region has its terminator; what follows is dead
  bool is_inline_ = false;
  std::string constructed_;  // of a constructor: its parameter that is the instance; else empty
  int64_t nesting_ = 1;      // regions around the current one, itself included
  bool is_kernel_ = false;
  bool in_while_condition_ = false;
  int returns_in_source_ = 0;
  int lambda_depth_ = 0;  // of lambdas that call lambdas
  std::vector<Value> returned_;
  SourceSpan span_;
  uint32_t file_index_ = 0;

  friend class SpanScope;
};

}  // namespace trivet::frontend
