"""Finds the functions of a project that ``triton.jit`` compiles, by syntax alone: nothing of the project is run."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import pathlib
from collections.abc import Iterator

_SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__"}


@dataclasses.dataclass
class Definition:
    """One ``@triton.jit`` function as it stands in a file.

    Attributes:
        path: the file. line: of ``def``, after the decorators; first_line: of the first decorator.
        node: the function. outer: the functions and classes around it, outermost first.
        identity: equal for functions with equal parameters and bodies, whatever their names, docstrings and decorators.
        calls: last parts of the names that the body mentions; by them a kernel is connected with its helpers.
    """

    path: pathlib.Path
    node: ast.FunctionDef
    outer: list[ast.AST]
    identity: str
    calls: set[str]

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def first_line(self) -> int:
        return min([d.lineno for d in self.node.decorator_list] + [self.node.lineno])


def find_definitions(root: pathlib.Path) -> list[Definition]:
    """All ``@triton.jit`` functions below ``root`` (a folder or a file), in the order of paths and lines."""
    files = [root] if root.is_file() else sorted(root.rglob("*.py"))
    found = []
    for path in files:
        if _SKIPPED_FOLDERS & set(path.relative_to(root).parts):
            continue
        try:
            text = path.read_text(encoding="utf-8")
            if "jit" not in text or "triton" not in text:
                continue
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError, OSError):
            continue  # Python 2, templates, broken links
        aliases = _names_of_triton(tree)
        found.extend(_definition(path, node, outer) for node, outer in _functions(tree, []) if _is_jit(node, aliases))
    return found


def _functions(node: ast.AST, outer: list[ast.AST]) -> Iterator[tuple[ast.FunctionDef, list[ast.AST]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child, outer
        inside = isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))
        yield from _functions(child, [*outer, child] if inside else outer)


def _names_of_triton(tree: ast.Module) -> tuple[set[str], set[str]]:
    """(names bound to triton modules, names bound to its ``jit``)."""
    modules, functions = {"triton"}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {
                a.asname for a in node.names if a.asname and a.name.split(".")[0] == "triton" and "gluon" not in a.name
            }
        elif (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] == "triton"
            and "gluon" not in node.module
        ):
            functions |= {a.asname or a.name for a in node.names if a.name == "jit"}
        elif isinstance(node, ast.ImportFrom):
            functions |= {a.asname or a.name for a in node.names if a.name in ("triton_jit", "triton_jit_function")}
    return modules, functions


def _is_jit(node: ast.FunctionDef, aliases: tuple[set[str], set[str]]) -> bool:
    modules, functions = aliases
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        dotted = ast.unparse(target)
        head, _, tail = dotted.rpartition(".")
        if (tail == "jit" and head.split(".")[0] in modules) or (not head and dotted in functions):
            return True
    return False


def _definition(path: pathlib.Path, node: ast.FunctionDef, outer: list[ast.AST]) -> Definition:
    body = node.body
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        body = body[1:]
    text = ast.dump(node.args) + "".join(ast.dump(statement) for statement in body)
    calls = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
    calls |= {n.attr for s in body for n in ast.walk(s) if isinstance(n, ast.Attribute)}
    return Definition(path, node, outer, hashlib.sha256(text.encode()).hexdigest(), calls)
