// The tree of one Python function, as the frontend sees it. Made once from CPython's ast (python/bindings) or by tests.
//
// Two node types, Expr and Stmt, each with a kind and a handful of fields; the tables below say which kind uses which.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trivet::frontend {

// A range of the source text. Lines count from 1, columns from 1; both are those of the file.
struct SourceSpan {
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t end_line = 0;
  uint32_t end_column = 0;
};

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

enum class ExprKind : uint8_t {
  kName,  // name
  kNone,
  kTrue,
  kFalse,
  kEllipsis,
  kInt,        // text: decimal digits (any size)
  kFloat,      // number
  kString,     // text
  kUnary,      // op ("-", "+", "~", "not"), a
  kBinary,     // op ("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"), a, b
  kBool,       // op ("and", "or"), items
  kCompare,    // a, then ops[i] ("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in") and items[i]
  kCall,       // a (callee), items (may hold kStarred), keywords
  kAttribute,  // a, name
  kSubscript,  // a, b (index: any expression, kSlice or a kTuple with slices)
  kSlice,      // a, b, c: lower, upper, step, each may be null
  kTuple,
  kList,         // items
  kIfExp,        // a if b else c
  kStarred,      // a
  kFString,      // items: kString or kFormatted
  kFormatted,    // a, text: format specification, name: conversion ("r", "s", "a" or "")
  kListComp,     // a (element), b (target), c (iterable), items (conditions): one `for` only
  kNamedExpr,    // name := a
  kLambda,       // items (parameters, as kName), a (what it gives)
  kUnsupported,  // text: what people call it: "a dictionary", "'yield'"
};

struct Keyword {
  std::string name;  // empty for **mapping
  ExprPtr value;
  SourceSpan span;
};

struct Expr {
  ExprKind kind;
  SourceSpan span;
  std::string name;
  std::string text;
  std::string op;
  double number = 0;
  ExprPtr a, b, c;
  std::vector<ExprPtr> items;
  std::vector<std::string> ops;
  std::vector<Keyword> keywords;
};

enum class StmtKind : uint8_t {
  kExpr,       // value
  kAssign,     // targets = value
  kAugAssign,  // target op= value
  kAnnAssign,  // target: annotation = value (value may be null)
  kReturn,     // value, may be null
  kIf,         // value (condition), body, orelse
  kFor,        // target in value: body, orelse
  kWhile,      // value (condition), body, orelse
  kAssert,     // value, message (may be null)
  kPass,
  kBreak,
  kContinue,
  kRaise,   // value, may be null
  kDelete,  // targets
  // Not in the language; targets: the names that the statement would define, as kName.
  kWith,
  kGlobal,  // global and nonlocal: text
  kFunctionDef,
  kImport,
  kUnsupported,  // text: its keyword
};

struct Stmt {
  StmtKind kind;
  SourceSpan span;
  std::vector<ExprPtr> targets;
  ExprPtr target;
  ExprPtr value;
  ExprPtr annotation;
  ExprPtr message;
  std::string op;
  std::string text;
  std::vector<StmtPtr> body;
  std::vector<StmtPtr> orelse;
};

struct Parameter {
  std::string name;
  SourceSpan span;
  bool is_constexpr = false;  // annotated tl.constexpr
  bool is_read_only = false;  // annotated tl.const: a pointer that nothing is written through
  std::string annotation;     // a dtype name such as "int64" when annotated with one, else empty
  ExprPtr default_value;      // null if there is none; evaluated by the host
  bool is_variadic = false;   // *args
  bool is_keyword_only = false;
};

struct FunctionDef {
  std::string name;
  std::string file;
  SourceSpan span;
  std::vector<Parameter> parameters;
  std::vector<StmtPtr> body;
  std::vector<std::string> source_lines;  // of the function; source_lines[0] is line `first_line` of the file
  uint32_t first_line = 1;
};

}  // namespace trivet::frontend
