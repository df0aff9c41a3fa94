#include "python/bindings/ast_convert.h"

#include <utility>
#include "python/bindings/py_module.h"

namespace py = pybind11;

namespace trivet::python {
namespace {

using frontend::Expr;
using frontend::ExprKind;
using frontend::ExprPtr;
using frontend::Keyword;
using frontend::SourceSpan;
using frontend::Stmt;
using frontend::StmtKind;
using frontend::StmtPtr;

class Converter {
 public:
  Converter(uint32_t line_offset, uint32_t column_offset) : line_offset_(line_offset), column_offset_(column_offset) {}

  std::vector<StmtPtr> Body(py::handle list) {
    std::vector<StmtPtr> out;
    for (py::handle item : list) out.push_back(Statement(item));
    return out;
  }

  SourceSpan Span(py::handle node) {
    SourceSpan span;
    if (!py::hasattr(node, "lineno")) return span;
    span.line = node.attr("lineno").cast<uint32_t>() + line_offset_;
    span.column = node.attr("col_offset").cast<uint32_t>() + column_offset_ + 1;
    span.end_line = node.attr("end_lineno").cast<uint32_t>() + line_offset_;
    span.end_column = node.attr("end_col_offset").cast<uint32_t>() + column_offset_ + 1;
    return span;
  }

  ExprPtr Expression(py::handle node) {
    if (node.is_none()) return nullptr;
    auto e = std::make_unique<Expr>();
    e->span = Span(node);
    const std::string type = TypeName(node);
    // Lowering recurses over the tree, on a stack that may be a thread's.
    const DepthScope depth(&depth_);
    if (depth_ > kMaxExpressionDepth) {
      e->kind = ExprKind::kUnsupported;
      e->text = "an expression nested more than " + std::to_string(kMaxExpressionDepth) + " deep";
      return e;
    }
    if (type == "Name") {
      e->kind = ExprKind::kName;
      e->name = Text(node.attr("id"));
    } else if (type == "Constant") {
      Constant(node.attr("value"), e.get());
    } else if (type == "BinOp") {
      e->kind = ExprKind::kBinary;
      e->op = BinaryOp(node.attr("op"));
      e->a = Expression(node.attr("left"));
      e->b = Expression(node.attr("right"));
    } else if (type == "UnaryOp") {
      e->kind = ExprKind::kUnary;
      const std::string op = TypeName(node.attr("op"));
      e->op = op == "USub" ? "-" : op == "UAdd" ? "+" : op == "Invert" ? "~" : "not";
      e->a = Expression(node.attr("operand"));
    } else if (type == "BoolOp") {
      e->kind = ExprKind::kBool;
      e->op = TypeName(node.attr("op")) == "And" ? "and" : "or";
      e->items = Expressions(node.attr("values"));
    } else if (type == "Compare") {
      e->kind = ExprKind::kCompare;
      e->a = Expression(node.attr("left"));
      for (py::handle op : node.attr("ops")) e->ops.push_back(CompareOp(op));
      e->items = Expressions(node.attr("comparators"));
    } else if (type == "Call") {
      e->kind = ExprKind::kCall;
      e->a = Expression(node.attr("func"));
      e->items = Expressions(node.attr("args"));
      for (py::handle k : node.attr("keywords")) {
        Keyword keyword;
        if (!k.attr("arg").is_none()) keyword.name = Text(k.attr("arg"));
        keyword.value = Expression(k.attr("value"));
        keyword.span = Span(k);
        e->keywords.push_back(std::move(keyword));
      }
    } else if (type == "Attribute") {
      e->kind = ExprKind::kAttribute;
      e->a = Expression(node.attr("value"));
      e->name = Text(node.attr("attr"));
    } else if (type == "Subscript") {
      e->kind = ExprKind::kSubscript;
      e->a = Expression(node.attr("value"));
      e->b = Expression(node.attr("slice"));
    } else if (type == "Slice") {
      e->kind = ExprKind::kSlice;
      e->a = Expression(node.attr("lower"));
      e->b = Expression(node.attr("upper"));
      e->c = Expression(node.attr("step"));
    } else if (type == "Tuple" || type == "List") {
      e->kind = type == "Tuple" ? ExprKind::kTuple : ExprKind::kList;
      e->items = Expressions(node.attr("elts"));
    } else if (type == "IfExp") {
      e->kind = ExprKind::kIfExp;
      e->a = Expression(node.attr("body"));
      e->b = Expression(node.attr("test"));
      e->c = Expression(node.attr("orelse"));
    } else if (type == "Starred") {
      e->kind = ExprKind::kStarred;
      e->a = Expression(node.attr("value"));
    } else if (type == "JoinedStr") {
      e->kind = ExprKind::kFString;
      e->items = Expressions(node.attr("values"));
    } else if (type == "FormattedValue") {
      e->kind = ExprKind::kFormatted;
      e->a = Expression(node.attr("value"));
      const int conversion = node.attr("conversion").cast<int>();
      if (conversion > 0) e->name = std::string(1, static_cast<char>(conversion));
      if (!node.attr("format_spec").is_none()) {
        for (py::handle part : node.attr("format_spec").attr("values")) {
          if (TypeName(part) == "Constant") e->text += Text(part.attr("value"));
        }
      }
    } else if ((type == "ListComp" || type == "GeneratorExp") && py::len(node.attr("generators")) == 1) {
      e->kind = ExprKind::kListComp;
      const py::object generator = node.attr("generators")[py::int_(0)];
      e->a = Expression(node.attr("elt"));
      e->b = Expression(generator.attr("target"));
      e->c = Expression(generator.attr("iter"));
      e->items = Expressions(generator.attr("ifs"));
    } else if (type == "NamedExpr") {
      e->kind = ExprKind::kNamedExpr;
      e->name = Text(node.attr("target").attr("id"));
      e->a = Expression(node.attr("value"));
    } else if (type == "Lambda") {
      const py::object parameters = node.attr("args");
      const bool is_plain = py::len(parameters.attr("defaults")) == 0 && py::len(parameters.attr("kwonlyargs")) == 0 &&
                            parameters.attr("vararg").is_none() && parameters.attr("kwarg").is_none();
      e->kind = is_plain ? ExprKind::kLambda : ExprKind::kUnsupported;
      e->text = "a lambda with defaults, * or keywords";
      for (const char* list : {"posonlyargs", "args"}) {
        for (py::handle parameter : parameters.attr(list)) {
          auto name = std::make_unique<Expr>();
          name->kind = ExprKind::kName;
          name->span = Span(parameter);
          name->name = Text(parameter.attr("arg"));
          e->items.push_back(std::move(name));
        }
      }
      e->a = Expression(node.attr("body"));
    } else {
      e->kind = ExprKind::kUnsupported;
      e->text = NameOfSyntax(type);
    }
    return e;
  }

 private:
  static std::string Text(py::handle h) { return Utf8(h); }
  static std::string TypeName(py::handle node) {
    return py::cast<std::string>(py::type::handle_of(node).attr("__name__"));
  }

  // What people call the syntax behind a class of Python's ast.
  static std::string NameOfSyntax(const std::string& type) {
    static const std::pair<const char*, const char*> kNames[] = {
        {"Yield", "'yield'"},
        {"YieldFrom", "'yield from'"},
        {"Await", "'await'"},
        {"Dict", "a dictionary"},
        {"DictComp", "a dictionary"},
        {"Set", "a set"},
        {"SetComp", "a set"},
        {"ListComp", "a comprehension with more than one 'for'"},
        {"Try", "try"},
        {"TryStar", "try"},
        {"Match", "match"},
        {"ClassDef", "class"},
        {"AsyncFor", "async for"},
        {"AsyncWith", "async with"},
        {"AsyncFunctionDef", "async def"},
        {"TypeAlias", "type"}};
    for (const auto& [from, to] : kNames) {
      if (type == from) return to;
    }
    return type;
  }

  // The names that a statement would define, as kName targets: for statements that kernels can't have.
  std::vector<ExprPtr> DefinedNames(py::handle node) {
    std::vector<ExprPtr> out;
    const auto add = [&](py::handle name) {
      auto e = std::make_unique<Expr>();
      e->kind = ExprKind::kName;
      e->span = Span(node);
      e->name = Text(name);
      e->name = e->name.substr(0, e->name.find('.'));
      out.push_back(std::move(e));
    };
    const std::string own = TypeName(node);
    if (own == "FunctionDef" || own == "AsyncFunctionDef" || own == "ClassDef") {
      add(node.attr("name"));
      return out;
    }
    for (py::handle inner : py::module_::import("ast").attr("walk")(node)) {
      const std::string type = TypeName(inner);
      if (type == "Name" && TypeName(inner.attr("ctx")) == "Store") add(inner.attr("id"));
      if (type == "alias") add(inner.attr("asname").is_none() ? inner.attr("name") : inner.attr("asname"));
      if ((type == "MatchAs" || type == "MatchStar" || type == "ExceptHandler") && !inner.attr("name").is_none()) {
        add(inner.attr("name"));
      }
    }
    return out;
  }

  std::vector<ExprPtr> Expressions(py::handle list) {
    std::vector<ExprPtr> out;
    for (py::handle item : list) out.push_back(Expression(item));
    return out;
  }

  static std::string BinaryOp(py::handle op) {
    static const std::pair<const char*, const char*> kOps[] = {
        {"Add", "+"},    {"Sub", "-"},   {"Mult", "*"},    {"Div", "/"},     {"FloorDiv", "//"},
        {"Mod", "%"},    {"Pow", "**"},  {"MatMult", "@"}, {"LShift", "<<"}, {"RShift", ">>"},
        {"BitAnd", "&"}, {"BitOr", "|"}, {"BitXor", "^"}};
    const std::string name = TypeName(op);
    for (const auto& [from, to] : kOps) {
      if (name == from) return to;
    }
    return name;
  }

  static std::string CompareOp(py::handle op) {
    static const std::pair<const char*, const char*> kOps[] = {
        {"Eq", "=="},  {"NotEq", "!="}, {"Lt", "<"},         {"LtE", "<="}, {"Gt", ">"},
        {"GtE", ">="}, {"Is", "is"},    {"IsNot", "is not"}, {"In", "in"},  {"NotIn", "not in"}};
    const std::string name = TypeName(op);
    for (const auto& [from, to] : kOps) {
      if (name == from) return to;
    }
    return name;
  }

  void Constant(const py::object& value, Expr* e) {
    if (value.is_none()) {
      e->kind = ExprKind::kNone;
    } else if (py::isinstance<py::bool_>(value)) {
      e->kind = value.cast<bool>() ? ExprKind::kTrue : ExprKind::kFalse;
    } else if (py::isinstance<py::int_>(value)) {
      e->kind = ExprKind::kInt;
      e->text = Text(py::str(value));
    } else if (py::isinstance<py::float_>(value)) {
      e->kind = ExprKind::kFloat;
      e->number = value.cast<double>();
    } else if (py::isinstance<py::str>(value)) {
      e->kind = ExprKind::kString;
      e->text = Text(value);
    } else if (py::isinstance<py::ellipsis>(value)) {
      e->kind = ExprKind::kEllipsis;
    } else {
      e->kind = ExprKind::kUnsupported;
      e->text = "constant of type " + TypeName(value);
    }
  }

  StmtPtr Statement(py::handle node) {
    auto s = std::make_unique<Stmt>();
    s->span = Span(node);
    const std::string type = TypeName(node);
    if (type == "Expr") {
      s->kind = StmtKind::kExpr;
      s->value = Expression(node.attr("value"));
    } else if (type == "Assign") {
      s->kind = StmtKind::kAssign;
      s->targets = Expressions(node.attr("targets"));
      s->value = Expression(node.attr("value"));
    } else if (type == "AugAssign") {
      s->kind = StmtKind::kAugAssign;
      s->op = BinaryOp(node.attr("op"));
      s->target = Expression(node.attr("target"));
      s->value = Expression(node.attr("value"));
    } else if (type == "AnnAssign") {
      s->kind = StmtKind::kAnnAssign;
      s->target = Expression(node.attr("target"));
      s->annotation = Expression(node.attr("annotation"));
      s->value = Expression(node.attr("value"));
    } else if (type == "Return") {
      s->kind = StmtKind::kReturn;
      s->value = Expression(node.attr("value"));
    } else if (type == "If" || type == "While") {
      s->kind = type == "If" ? StmtKind::kIf : StmtKind::kWhile;
      s->value = Expression(node.attr("test"));
      s->body = Body(node.attr("body"));
      s->orelse = Body(node.attr("orelse"));
    } else if (type == "For") {
      s->kind = StmtKind::kFor;
      s->target = Expression(node.attr("target"));
      s->value = Expression(node.attr("iter"));
      s->body = Body(node.attr("body"));
      s->orelse = Body(node.attr("orelse"));
    } else if (type == "Assert") {
      s->kind = StmtKind::kAssert;
      s->value = Expression(node.attr("test"));
      s->message = Expression(node.attr("msg"));
    } else if (type == "Pass") {
      s->kind = StmtKind::kPass;
    } else if (type == "Break") {
      s->kind = StmtKind::kBreak;
    } else if (type == "Continue") {
      s->kind = StmtKind::kContinue;
    } else if (type == "Raise") {
      s->kind = StmtKind::kRaise;
      s->value = Expression(node.attr("exc"));
    } else if (type == "Delete") {
      s->kind = StmtKind::kDelete;
      s->targets = Expressions(node.attr("targets"));
    } else if (type == "With") {
      s->kind = StmtKind::kWith;
      s->targets = DefinedNames(node);
    } else if (type == "Global" || type == "Nonlocal") {
      s->kind = StmtKind::kGlobal;
      s->text = type == "Global" ? "global" : "nonlocal";
    } else if (type == "FunctionDef") {
      s->kind = StmtKind::kFunctionDef;
      s->targets = DefinedNames(node);
    } else if (type == "Import" || type == "ImportFrom") {
      s->kind = StmtKind::kImport;
      s->targets = DefinedNames(node);
    } else {
      s->kind = StmtKind::kUnsupported;
      s->text = NameOfSyntax(type);
      s->targets = DefinedNames(node);
    }
    return s;
  }

  struct DepthScope {
    explicit DepthScope(int* depth) : depth_(depth) { ++*depth_; }
    ~DepthScope() { --*depth_; }
    int* depth_;
  };
  static constexpr int kMaxExpressionDepth = 500;

  int depth_ = 0;
  uint32_t line_offset_;
  uint32_t column_offset_;
};

}  // namespace

frontend::FunctionDef ConvertFunction(const py::tuple& source) {
  const py::object node = source[0];
  frontend::FunctionDef def;
  def.name = py::cast<std::string>(node.attr("name"));
  def.file = py::cast<std::string>(source[1]);
  for (py::handle line : source[2]) def.source_lines.push_back(py::cast<std::string>(line));
  def.first_line = source[3].cast<uint32_t>();
  Converter convert(def.first_line - 1, source[4].cast<uint32_t>());
  def.span = convert.Span(node);
  def.span.end_line = def.span.line;  // messages about the function point at its head
  const py::object arguments = node.attr("args");
  const auto add = [&](py::handle arg, bool variadic, bool keyword_only) {
    frontend::Parameter p;
    p.name = py::cast<std::string>(arg.attr("arg"));
    p.span = convert.Span(arg);
    p.is_variadic = variadic;
    p.is_keyword_only = keyword_only;
    def.parameters.push_back(std::move(p));
  };
  for (py::handle arg : arguments.attr("posonlyargs")) add(arg, false, false);
  for (py::handle arg : arguments.attr("args")) add(arg, false, false);
  if (!arguments.attr("vararg").is_none()) add(arguments.attr("vararg"), true, false);
  for (py::handle arg : arguments.attr("kwonlyargs")) add(arg, false, true);
  def.body = convert.Body(node.attr("body"));
  return def;
}

}  // namespace trivet::python
