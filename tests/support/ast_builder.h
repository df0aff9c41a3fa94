// Trees of small functions, written in C++ where there is no Python to parse them.
//
//   FunctionDef f = MakeFunction("twice", {"x"}, List(Return(Binary("+", Name("x"), Name("x")))));
//
// Each statement is a line of its own, numbered from 2 (the head of the function is line 1); expressions are at
// column 5.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.h"

namespace trivet::frontend {

inline ExprPtr MakeExpr(ExprKind kind) {
  auto e = std::make_unique<Expr>();
  e->kind = kind;
  return e;
}
inline ExprPtr Name(const std::string& name) {
  ExprPtr e = MakeExpr(ExprKind::kName);
  e->name = name;
  return e;
}
inline ExprPtr IntLiteral(const std::string& digits) {
  ExprPtr e = MakeExpr(ExprKind::kInt);
  e->text = digits;
  return e;
}
inline ExprPtr StringLiteral(const std::string& text) {
  ExprPtr e = MakeExpr(ExprKind::kString);
  e->text = text;
  return e;
}
inline ExprPtr Binary(const std::string& op, ExprPtr a, ExprPtr b) {
  ExprPtr e = MakeExpr(ExprKind::kBinary);
  e->op = op;
  e->a = std::move(a);
  e->b = std::move(b);
  return e;
}
inline ExprPtr Compare(ExprPtr a, const std::string& op, ExprPtr b) {
  ExprPtr e = MakeExpr(ExprKind::kCompare);
  e->a = std::move(a);
  e->ops = {op};
  e->items.push_back(std::move(b));
  return e;
}
inline ExprPtr Attribute(ExprPtr object, const std::string& name) {
  ExprPtr e = MakeExpr(ExprKind::kAttribute);
  e->a = std::move(object);
  e->name = name;
  return e;
}
template <typename... Arguments>
ExprPtr Call(ExprPtr callee, Arguments... arguments) {
  ExprPtr e = MakeExpr(ExprKind::kCall);
  e->a = std::move(callee);
  (e->items.push_back(std::move(arguments)), ...);
  return e;
}
inline ExprPtr WithKeyword(ExprPtr call, const std::string& name, ExprPtr value) {
  Keyword keyword;
  keyword.name = name;
  keyword.value = std::move(value);
  call->keywords.push_back(std::move(keyword));
  return call;
}

inline StmtPtr MakeStmt(StmtKind kind) {
  auto s = std::make_unique<Stmt>();
  s->kind = kind;
  return s;
}
inline StmtPtr Do(ExprPtr value) {
  StmtPtr s = MakeStmt(StmtKind::kExpr);
  s->value = std::move(value);
  return s;
}
inline StmtPtr Assign(const std::string& name, ExprPtr value) {
  StmtPtr s = MakeStmt(StmtKind::kAssign);
  s->targets.push_back(Name(name));
  s->value = std::move(value);
  return s;
}
inline StmtPtr Return(ExprPtr value) {
  StmtPtr s = MakeStmt(StmtKind::kReturn);
  s->value = std::move(value);
  return s;
}
template <typename... Statements>
std::vector<StmtPtr> List(Statements... statements) {
  std::vector<StmtPtr> list;
  (list.push_back(std::move(statements)), ...);
  return list;
}
inline StmtPtr For(const std::string& name, ExprPtr iterable, std::vector<StmtPtr> body) {
  StmtPtr s = MakeStmt(StmtKind::kFor);
  s->target = Name(name);
  s->value = std::move(iterable);
  s->body = std::move(body);
  return s;
}
inline StmtPtr If(ExprPtr condition, std::vector<StmtPtr> body, std::vector<StmtPtr> orelse = {}) {
  StmtPtr s = MakeStmt(StmtKind::kIf);
  s->value = std::move(condition);
  s->body = std::move(body);
  s->orelse = std::move(orelse);
  return s;
}

// Gives every node of the list a span, and the function the text of its lines ("line 2", ...).
FunctionDef MakeFunction(const std::string& name, const std::vector<std::string>& parameters,
                         std::vector<StmtPtr> body);

}  // namespace trivet::frontend
