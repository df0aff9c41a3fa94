"""What a kernel's body says about its parameters: which are pointers and to what, which are integers, flags, modes, types.

Demands travel from uses back to parameters. ``tl.load(p)`` demands a pointer of ``p``; if ``p = x + i * n``, then ``x`` must be
the pointer and ``i`` and ``n`` integers; if what was loaded serves as an index somewhere, ``x`` points to integers.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import Any

POINTER, INTEGER = "pointer", "integer"

_MEMORY = {
    "load",
    "store",
    "make_block_ptr",
    "make_tensor_descriptor",
    "_experimental_make_tensor_descriptor",
    "_experimental_descriptor_load",
    "_experimental_descriptor_store",
}
_INTEGER_ONLY = (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
_SAME_KIND = {"multiple_of", "max_contiguous", "max_constancy", "advance", "broadcast_to", "expand_dims", "reshape", "trans",
              "view", "where", "minimum", "maximum", "cast", "to", "sum", "max", "min", "cdiv", "broadcast", "cumsum", "abs"}  # fmt: skip
_LIBRARIES = {"tl", "triton", "language", "math", "libdevice", "tl_extra_shim", "core", "standard"}
_POINTER_NAME = re.compile(r"(_ptr|_ptrs|ptr|_p|_pointer)$|^(p|ptr)_|Ptr$", re.I)


@dataclasses.dataclass
class Usage:
    """Facts about the parameters of one function.

    Attributes:
        kinds: parameter -> POINTER or INTEGER. elements: pointer parameter -> INTEGER or POINTER, where demanded.
        descriptors: parameter -> rank of the blocks that are loaded or stored through it.
        strings, numbers: parameter -> literals it is compared with, in order.
        flags: parameters used as conditions. called: used as functions. types: used as element types.
        optional: compared with None. stored: pointers written to. returned: what a result starts from.
        extents: parameters that appear in shapes, ``arange`` or ``range``; shapes: where a constant is needed.
        tiles: indexed like tiles. unpacked: parameter -> number of elements, for tuples.
        bits: tested bit by bit. type_names: given to ``tl.dtype``.
    """

    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    elements: dict[str, str] = dataclasses.field(default_factory=dict)
    descriptors: dict[str, int] = dataclasses.field(default_factory=dict)
    strings: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    numbers: dict[str, list[Any]] = dataclasses.field(default_factory=dict)
    flags: set[str] = dataclasses.field(default_factory=set)
    called: set[str] = dataclasses.field(default_factory=set)
    types: set[str] = dataclasses.field(default_factory=set)
    optional: set[str] = dataclasses.field(default_factory=set)
    extents: set[str] = dataclasses.field(default_factory=set)
    tiles: set[str] = dataclasses.field(default_factory=set)
    unpacked: dict[str, int] = dataclasses.field(default_factory=dict)
    returned: set[str] = dataclasses.field(default_factory=set)
    stored: set[str] = dataclasses.field(default_factory=set)
    bits: set[str] = dataclasses.field(default_factory=set)
    shapes: set[str] = dataclasses.field(default_factory=set)
    type_names: set[str] = dataclasses.field(default_factory=set)
    matrix: bool = False


class Analyser:
    """Usage of every function of a project. Args: functions: helper name -> (file, definition) of that name."""

    def __init__(self, functions: dict[str, list[tuple[Any, ast.FunctionDef]]]) -> None:
        self._functions = functions
        self._file = {id(node): file for found in functions.values() for file, node in found}
        self._known: dict[int, Usage] = {}

    def usage(self, node: ast.FunctionDef) -> Usage:
        """The facts about a function's parameters; cached."""
        if id(node) not in self._known:
            self._known[id(node)] = Usage()  # for recursion
            self._known[id(node)] = _Pass(node, self).result
        return self._known[id(node)]

    def helper(self, call: ast.Call, caller: ast.FunctionDef) -> tuple[ast.FunctionDef, Usage] | None:
        """The project's function that a call names: of the caller's file, else of another unless the name is private."""
        if isinstance(call.func, ast.Attribute) and _last(call.func.value) in _LIBRARIES:
            return None
        name = _last(call.func)
        found = self._functions.get(name, [])
        here = [node for file, node in found if file == self._file.get(id(caller))]
        there = [] if name.startswith("_") else [node for _, node in found]
        for node in here + there:
            return node, self.usage(node)
        return None


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def parameters(node: ast.FunctionDef) -> list[ast.arg]:
    """The parameters in order, ``*args`` left out."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


class _Pass:
    def __init__(self, node: ast.FunctionDef, analyser: Analyser) -> None:
        self.result = Usage()
        self._analyser = analyser
        self._node = node
        self._gives_a_value = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))
        self._parameters = {a.arg for a in parameters(node)}
        self._constexpr = {a.arg for a in parameters(node) if a.annotation and "constexpr" in ast.unparse(a.annotation)}
        self._assigned: dict[str, list[ast.AST]] = {}
        self._seen: set[tuple[Any, ...]] = set()
        nodes = [n for s in node.body for n in ast.walk(s)]
        # The column at which the statement of a line begins: an assignment further left than a use is made on every way to it.
        self._column: dict[int, int] = {}
        for n in nodes:
            if isinstance(n, ast.stmt) and not hasattr(n, "body"):
                self._column.update(dict.fromkeys(range(n.lineno, n.end_lineno + 1), n.col_offset))
        for n in nodes:
            self._assignment(n)
        for _ in range(2):  # what is known of pointers after the first time helps to tell them from offsets
            self._seen.clear()
            for n in nodes:
                self._use(n)

    # --- assignments

    def _assignment(self, n: ast.AST) -> None:
        if isinstance(n, ast.Assign):
            for target in n.targets:
                self._bind(target, n.value)
        elif isinstance(n, ast.AnnAssign) and n.value is not None:
            self._bind(n.target, n.value)
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            old = ast.copy_location(ast.Name(n.target.id, ast.Load()), n)
            self._bind(n.target, ast.copy_location(ast.BinOp(old, n.op, n.value), n))
        elif isinstance(n, ast.NamedExpr):
            self._bind(n.target, n.value)

    def _bind(self, target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self._assigned.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for t, v in zip(target.elts, value.elts, strict=True):
                    self._bind(t, v)
            elif isinstance(value, ast.Name) and value.id in self._parameters:
                self.result.unpacked[value.id] = len(target.elts)

    # --- demands

    def _demand(self, n: ast.AST | None, kind: str) -> None:
        if isinstance(n, ast.Name):
            values = self._values(n)
            key = (n.id, kind, *map(id, values))
            if key in self._seen:
                return
            self._seen.add(key)
            if n.id in self._parameters and self.result.kinds.get(n.id) != POINTER:
                self.result.kinds[n.id] = kind
            for value in values:
                # `indices = tl.load(indices_ptrs)`, where indices was the parameter: the new value has another type.
                if n.id in self._parameters and isinstance(value, ast.Call) and _last(value.func) == "load":
                    continue
                self._demand(value, kind)
        elif isinstance(n, ast.BinOp):
            if kind == POINTER and isinstance(n.op, (ast.Add, ast.Sub)):
                pointer, offset = self._split(n)
                self._demand(pointer, POINTER)
                self._demand(offset, INTEGER)
            elif kind == INTEGER and not isinstance(n.op, ast.Div):
                self._demand(n.left, INTEGER)
                self._demand(n.right, INTEGER)
        elif isinstance(n, ast.Call):
            self._demand_call(n, kind)
        elif isinstance(n, ast.IfExp):
            self._demand(n.body, kind)
            self._demand(n.orelse, kind)
        elif isinstance(n, (ast.Subscript, ast.UnaryOp)):
            self._demand(n.value if isinstance(n, ast.Subscript) else n.operand, kind)

    def _values(self, n: ast.Name) -> list[ast.AST]:
        """What a name was assigned above its use; if nothing (it is carried around a loop), what it is assigned anywhere."""
        values = self._assigned.get(n.id, [])
        line = getattr(n, "lineno", None)
        above = [v for v in values if line is not None and v.end_lineno < line]
        reaching = []
        for value in sorted(above, key=lambda v: -v.lineno):
            reaching.append(value)
            if self._column.get(value.lineno, 0) <= self._column.get(line, 0):
                break
        return reaching or ([] if n.id in self._parameters else values)

    def _demand_call(self, n: ast.Call, kind: str) -> None:
        name = _last(n.func)
        if name == "load" and n.args:
            for root in self._roots(n.args[0]):
                if self.result.elements.get(root) != POINTER:
                    self.result.elements[root] = kind
            return
        if kind == POINTER and name in ("to", "cast") and "pointer_type" in ast.unparse(n):
            kind = "address"
        method = isinstance(n.func, ast.Attribute) and not (
            isinstance(n.func.value, ast.Name) and n.func.value.id in ("tl", "triton", "language")
        )
        if name in ("where",):
            operands = n.args[1:]
        elif name in _SAME_KIND:
            operands = [n.func.value] if method else n.args[: 1 if name not in ("minimum", "maximum", "cdiv") else 2]
        else:
            usage, pairs = self._helper_arguments(n)
            operands = [a for p, a in pairs if usage is not None and p in usage.returned and kind == POINTER]
        for operand in operands:
            if kind == "address":
                self._demand(operand, INTEGER)
                for root in self._roots(operand):
                    self.result.elements[root] = "address"
                if isinstance(operand, ast.Name) and operand.id in self._parameters:
                    self.result.elements[operand.id] = "address"
            else:
                self._demand(operand, kind)

    def _split(self, n: ast.BinOp) -> tuple[ast.AST, ast.AST]:
        left, right = self._likeness(n.left, set()), self._likeness(n.right, set())
        return (n.right, n.left) if right > left else (n.left, n.right)

    def _likeness(self, n: ast.AST, seen: set[str]) -> int:
        """How much an operand of + looks like the pointer."""
        if isinstance(n, ast.Name):
            if n.id in seen:
                return 0
            if n.id in self._constexpr:
                return -2
            score = 3 if _POINTER_NAME.search(n.id) else 0
            if self.result.kinds.get(n.id) == POINTER:
                return 5
            if n.id in self._parameters:
                return score + (1 if "stride" not in n.id.lower() else -2)
            values = self._values(n)
            return max(self._likeness(v, seen | {n.id}) for v in values) if values else score - 1
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Sub)):
            return max(self._likeness(n.left, seen), self._likeness(n.right, seen))
        if isinstance(n, ast.Call):
            if "pointer_type" in ast.unparse(n):
                return 6
            if _last(n.func) in ("advance", "make_block_ptr"):
                return 5
            if _last(n.func) in ("multiple_of", "broadcast_to", "where") and n.args:
                return max(self._likeness(a, seen) for a in n.args)
            return -1
        if isinstance(n, ast.IfExp):
            return max(self._likeness(n.body, seen), self._likeness(n.orelse, seen))
        if isinstance(n, ast.Subscript):
            return self._likeness(n.value, seen)
        return -1

    def _roots(self, n: ast.AST, seen: frozenset[str] = frozenset()) -> set[str]:
        """The parameters that a pointer expression starts from."""
        if isinstance(n, ast.Name):
            if n.id in seen:
                return set()
            found = {n.id} if n.id in self._parameters else set()
            for value in self._values(n):
                found |= self._roots(value, seen | {n.id})
            return found
        if isinstance(n, ast.BinOp):
            return self._roots(self._split(n)[0], seen)
        if isinstance(n, ast.Call):
            if (
                n.args
                and _last(n.func) in (*_MEMORY, "advance", "multiple_of", "max_contiguous", "broadcast_to")
                and _last(n.func) != "load"
            ):
                return self._roots(n.args[0], seen)
            usage, pairs = self._helper_arguments(n)
            if usage is not None and usage.returned:
                return {r for p, a in pairs if p in usage.returned for r in self._roots(a, seen)}
            if n.keywords and _last(n.func) in _MEMORY:
                return {r for k in n.keywords if k.arg == "base" for r in self._roots(k.value, seen)}
        if isinstance(n, ast.IfExp):
            return self._roots(n.body, seen) | self._roots(n.orelse, seen)
        if isinstance(n, ast.Subscript):
            return self._roots(n.value, seen)
        return set()

    # --- uses

    def _use(self, n: ast.AST) -> None:
        if isinstance(n, ast.Call):
            self._use_call(n)
        elif isinstance(n, ast.BinOp) and isinstance(n.op, ast.BitAnd) and isinstance(n.right, ast.Constant):
            self.result.bits.update(self._names(n.left))
        elif isinstance(n, ast.BinOp) and isinstance(n.op, _INTEGER_ONLY):
            self._demand(n.left, INTEGER)
            self._demand(n.right, INTEGER)
        elif isinstance(n, ast.Compare):
            self._use_comparison(n)
        elif isinstance(n, ast.Return) and n.value is not None:
            self.result.returned |= self._roots(n.value)
        elif isinstance(n, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            self._use_condition(n.test)
        elif isinstance(n, ast.Attribute):
            if n.attr == "element_ty" and not self._gives_a_value:  # in a function of tiles it is a tile's
                for name in self._names(n.value):
                    self._demand(ast.Name(name, ast.Load()), POINTER)
        elif isinstance(n, ast.Subscript):
            self._use_subscript(n)

    def _use_subscript(self, n: ast.Subscript) -> None:
        if isinstance(n.value, ast.Name) and n.value.id in self._parameters:
            if isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, int):
                count = self.result.unpacked.get(n.value.id, 0)
                self.result.unpacked[n.value.id] = max(count, n.slice.value + 1)
            elif isinstance(n.slice, ast.Name):
                self.result.unpacked[n.value.id] = 64
            elif "None" in ast.unparse(n.slice) or ":" in ast.unparse(n.slice):
                self.result.tiles.add(n.value.id)
        if isinstance(n.value, ast.Call):
            return

    def _names(self, n: ast.AST) -> list[str]:
        return [m.id for m in ast.walk(n) if isinstance(m, ast.Name) and m.id in self._parameters]

    def _use_condition(self, n: ast.AST) -> None:
        if isinstance(n, ast.BoolOp):
            for value in n.values:
                self._use_condition(value)
        elif isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            self._use_condition(n.operand)
        elif isinstance(n, ast.Name) and n.id in self._parameters:
            self.result.flags.add(n.id)

    def _use_comparison(self, n: ast.Compare) -> None:
        sides = [n.left, *n.comparators]
        for name in (s.id for s in sides if isinstance(s, ast.Name) and s.id in self._parameters):
            for other in sides:
                if isinstance(other, ast.Constant) and other.value is None:
                    self.result.optional.add(name)
                values = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
                for value in values:
                    if not isinstance(value, ast.Constant):
                        if isinstance(value, ast.Attribute) and re.search(r"float|int\d", value.attr):
                            self.result.types.add(name)
                    elif isinstance(value.value, str):
                        self.result.strings.setdefault(name, []).append(value.value)
                    elif (
                        isinstance(value.value, (int, float))
                        and not isinstance(value.value, bool)
                        and isinstance(n.ops[0], (ast.Eq, ast.NotEq, ast.In))
                    ):
                        self.result.numbers.setdefault(name, []).append(value.value)

    def _use_call(self, n: ast.Call) -> None:
        name = _last(n.func)
        first = n.args[0] if n.args else None
        if isinstance(n.func, ast.Name) and n.func.id in self._parameters:
            self.result.called.add(n.func.id)
        receiver = n.func.value if isinstance(n.func, ast.Attribute) else None
        if (
            isinstance(receiver, ast.Name)
            and receiver.id in self._parameters
            and name in ("load", "store", "gather", "scatter", "atomic_add")
        ):
            if first is not None:
                rank = len(first.elts) if isinstance(first, (ast.List, ast.Tuple)) else 2
                self.result.descriptors[receiver.id] = rank
            return
        if name in _MEMORY or name.startswith("atomic_"):
            pointer = first
            for keyword in n.keywords:
                if keyword.arg in ("pointer", "base"):
                    pointer = keyword.value
            self._demand(pointer, POINTER)
            if name in ("make_block_ptr", "make_tensor_descriptor"):
                for argument in [
                    *n.args[4 if name == "make_block_ptr" else 3 :][:1],
                    *(k.value for k in n.keywords if k.arg == "block_shape"),
                ]:
                    self.result.shapes.update(self._names(argument))
                for argument in [
                    *n.args[1:],
                    *(k.value for k in n.keywords if k.arg not in ("base", "padding_option")),
                ]:
                    for element in getattr(argument, "elts", []):
                        self._demand(element, INTEGER)
        elif name in ("range", "static_range"):
            for argument in n.args:
                self._demand(argument, INTEGER)
                self.result.extents.update(self._names(argument))
        elif name in ("arange", "zeros", "full", "cdiv", "reshape", "view", "broadcast_to"):
            for argument in n.args:
                self.result.extents.update(self._names(argument))
                if name in ("arange", "zeros", "full"):
                    self.result.shapes.update(
                        self._names(argument) if name == "arange" or argument is n.args[0] else []
                    )
            if name == "cdiv":
                for argument in n.args:
                    self._demand(argument, INTEGER)
        elif name in ("dot", "dot_scaled"):
            self.result.matrix = True
        elif name == "dtype":
            self.result.type_names.update(self._names(n))
        if name in ("to", "cast") and n.args:
            self._use_type(n.args[-1])
        position = {"zeros": 1, "full": 2}.get(name, len(n.args))
        if len(n.args) > position:
            self._use_type(n.args[position])
        if name == "store" and n.args:
            self.result.stored |= self._roots(n.args[0])
        for keyword in n.keywords:
            if keyword.arg in ("dtype", "out_dtype"):
                self._use_type(keyword.value)
        self._use_helper(n)

    def _use_type(self, n: ast.AST) -> None:
        if isinstance(n, ast.Name) and n.id in self._parameters:
            self.result.types.add(n.id)
        elif isinstance(n, ast.IfExp):
            self._use_type(n.body)
            self._use_type(n.orelse)

    def _helper_arguments(self, n: ast.Call) -> tuple[Usage | None, list[tuple[str, ast.AST]]]:
        found = self._analyser.helper(n, self._node)
        if found is None:
            return None, []
        names = [a.arg for a in parameters(found[0])]
        pairs = [*zip(names, n.args, strict=False), *((k.arg, k.value) for k in n.keywords if k.arg)]
        return found[1], pairs

    def _use_helper(self, n: ast.Call) -> None:
        usage, pairs = self._helper_arguments(n)
        if usage is None:
            return
        self.result.matrix |= usage.matrix
        self.result.stored |= {r for p, a in pairs if p in usage.stored for r in self._roots(a)}
        for parameter, argument in pairs:
            if parameter in usage.kinds:
                self._demand(argument, usage.kinds[parameter])
            if parameter in usage.elements:
                for root in self._roots(argument):
                    self.result.elements.setdefault(root, usage.elements[parameter])
            if (
                isinstance(argument, ast.BinOp)
                and isinstance(argument.op, ast.Sub)
                and isinstance(argument.left, ast.Constant)
            ):
                for name in self._names(argument.right):  # helper(4 - STAGE)
                    if parameter in usage.numbers:
                        wanted = [argument.left.value - v for v in usage.numbers[parameter]]
                        self.result.numbers[name] = wanted + self.result.numbers.get(name, [])
            if isinstance(argument, ast.Name) and argument.id in self._parameters:
                for table in ("strings", "numbers", "descriptors", "unpacked"):
                    if parameter in getattr(usage, table):
                        getattr(self.result, table).setdefault(argument.id, getattr(usage, table)[parameter])
                for group in (
                    "flags",
                    "called",
                    "types",
                    "optional",
                    "extents",
                    "tiles",
                    "bits",
                    "type_names",
                    "shapes",
                ):
                    if parameter in getattr(usage, group):
                        getattr(self.result, group).add(argument.id)
