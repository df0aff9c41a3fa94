"""Kernels with random changes: whatever the text, compiling ends in a module or in errors that name a line.

The changes replace expressions and statements of the kernels in tests/frontend by others of the same files.
"""

from __future__ import annotations

import ast
import copy
import random
import warnings
from pathlib import Path

import pytest

import frontend_files

FOLDER = Path(__file__).parents[1] / "frontend"
# These take long on purpose.
SLOW = {"recursion_fanning_out", "static_range_endless", "tuple_too_long", "unrolled_rounds"}
MUTANTS = 150


def _is_replaceable(node: ast.AST) -> bool:
    """Expressions that are read, not written to, and that stand where any expression may."""
    if not isinstance(node, ast.expr) or isinstance(node, (ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.Starred)):
        return False
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


class Mutator(ast.NodeTransformer):
    """Replaces a part of the nodes by others from the pools."""

    def __init__(self, rng: random.Random, rate: float, expressions: list, statements: list):
        self.rng, self.rate = rng, rate
        self.expressions, self.statements = expressions, statements

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.JoinedStr):
            return node  # its parts can't be just any expressions
        node = super().generic_visit(node)
        if _is_replaceable(node) and self.rng.random() < self.rate:
            return copy.deepcopy(self.rng.choice(self.expressions))
        if isinstance(node, ast.stmt) and self.rng.random() < self.rate / 2:
            return copy.deepcopy(self.rng.choice(self.statements))
        return node


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_mutants(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    paths = [path for path in sorted(FOLDER.glob("*/*.py")) if path.stem not in SLOW]
    trees = [ast.parse(path.read_text()) for path in paths]
    nodes = [node for tree in trees for function in _functions(tree) for node in ast.walk(function)]
    expressions = [node for node in nodes if _is_replaceable(node)]
    statements = [node for node in nodes if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef)]
    compiled = 0
    for number in range(MUTANTS):
        tree = copy.deepcopy(rng.choice(trees))
        mutator = Mutator(rng, rng.choice([0.01, 0.03, 0.1]), expressions, statements)
        for function in _functions(tree):
            function.body = [mutator.visit(statement) for statement in function.body]
        source = ast.unparse(ast.fix_missing_locations(tree))
        try:
            compile(source, "mutant", "exec")
        except SyntaxError:
            continue
        path = tmp_path / f"mutant_{number}.py"
        path.write_text(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module, diagnostics = frontend_files.compile_case(path)
        assert (module is None) == bool(diagnostics), source
        assert all(line > 0 for _, line, _, _, _ in diagnostics), source
        compiled += module is not None
    assert compiled > 0
