#include "tests/support/ast_builder.h"

#include "absl/strings/str_cat.h"

namespace trivet::frontend {
namespace {

void Place(Expr* e, uint32_t line) {
  if (e == nullptr) return;
  e->span = {line, 5, line, 9};
  for (ExprPtr* part : {&e->a, &e->b, &e->c}) Place(part->get(), line);
  for (ExprPtr& item : e->items) Place(item.get(), line);
  for (Keyword& keyword : e->keywords) Place(keyword.value.get(), line);
}

void Place(const std::vector<StmtPtr>& body, uint32_t* line) {
  for (const StmtPtr& s : body) {
    const uint32_t at = ++*line;
    s->span = {at, 1, at, 9};
    for (ExprPtr& target : s->targets) Place(target.get(), at);
    for (ExprPtr* part : {&s->target, &s->value, &s->annotation, &s->message}) Place(part->get(), at);
    Place(s->body, line);
    Place(s->orelse, line);
  }
}

}  // namespace

FunctionDef MakeFunction(const std::string& name, const std::vector<std::string>& parameters,
                         std::vector<StmtPtr> body) {
  FunctionDef def;
  def.name = name;
  def.file = absl::StrCat(name, ".py");
  def.span = {1, 1, 1, 4};
  for (const std::string& parameter : parameters) {
    Parameter p;
    p.name = parameter;
    def.parameters.push_back(std::move(p));
  }
  uint32_t last = 1;
  Place(body, &last);
  def.body = std::move(body);
  for (uint32_t line = 1; line <= last; ++line) def.source_lines.push_back(absl::StrCat("line ", line));
  return def;
}

}  // namespace trivet::frontend
