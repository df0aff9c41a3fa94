"""Runs the modules of a project with ``import triton`` meaning Trivet, so that their kernels come into being.

A project wants packages that aren't here, GPUs and drivers. So its modules run statement by statement; what fails is
skipped, what can't be imported is a ``Stub``. Kernels are found by being recorded as they are made.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import signal
import sys
import types
from typing import Any

import trivet
from trivet.jit import JITFunction
from trivet.runtime.autotuner import Autotuner, Heuristics


class Stub:
    """Stands for whatever can't be had: may be called, indexed, subclassed, iterated; as a decorator it changes nothing."""

    def __init__(self, name: str = "stub") -> None:
        self.__dict__["_stub_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name.startswith("_trivet"):
            raise AttributeError(name)
        return Stub(f"{self._stub_name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and (callable(args[0]) or isinstance(args[0], JITFunction)):
            return args[0]
        return Stub(f"{self._stub_name}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,) if bases == (self,) else ()

    def __getitem__(self, key: Any) -> Any:
        return self

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def _self(self, *_: Any) -> Any:
        return self

    __add__ = __radd__ = __or__ = __ror__ = __and__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = _self

    def _no(self, _: Any) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _no


class _StubModule(types.ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.__name__}.{name}")


class _StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last in line: a module that the project wants and nobody has is a stub.

    What really is here gets no stubs: a package may try to import another and go without.
    """

    def __init__(self, real: set[str], root: pathlib.Path) -> None:
        self._real, self._root = real, str(root)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        head = name.partition(".")[0]
        if head in self._real or head in sys.stdlib_module_names:
            return None
        if not isinstance(sys.modules.get(name.rpartition(".")[0]), _StubModule) and not _importer().startswith(
            self._root
        ):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        return _StubModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _importer() -> str:
    """The file whose import statement is being carried out."""
    frame = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename == __file__ or "importlib" in frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_code.co_filename if frame is not None else ""


class _ProjectFinder(importlib.abc.MetaPathFinder):
    """First in line: modules below the project's import roots, run tolerantly."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        for root in self._project.roots:
            base = root.joinpath(*name.split("."))
            for file, is_package in ((base / "__init__.py", True), (base.with_suffix(".py"), False)):
                if file.is_file():
                    loader = _TolerantLoader(self._project, file)
                    spec = importlib.util.spec_from_file_location(
                        name, file, loader=loader, submodule_search_locations=[str(base)] if is_package else None
                    )
                    return spec
            if base.is_dir() and any(base.glob("*.py")) and name.partition(".")[0] not in ("triton", "trivet", "torch"):
                spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [str(base)]
                return spec
        return None


class _TolerantLoader(importlib.abc.Loader):
    def __init__(self, project: Project, path: pathlib.Path) -> None:
        self._project, self._path = project, path

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        self._project.run_file(self._path, vars(module))


class Project:
    """The modules of one checkout.

    Attributes:
        made: (file, first line) -> the JITFunction defined there.
        configs, heuristics: JITFunction -> the autotuner's configurations, the heuristics' functions.
        skipped: statements that failed, as (file, line, error).
    """

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.roots = _import_roots(root)
        self.made: dict[tuple[str, int], JITFunction] = {}
        self.configs: dict[int, list[Any]] = {}
        self.heuristics: dict[int, dict[str, Any]] = {}
        self.skipped: list[tuple[str, int, str]] = []
        self._namespaces: dict[pathlib.Path, dict[str, Any]] = {}

    def activate(self) -> None:
        """Puts Trivet in Triton's place, the project on the import path, stubs behind everything, and starts recording."""
        real = {"torch", "numpy", "triton", "trivet", "scipy"}
        trivet.as_triton()
        _pretend_gpu()
        sys.meta_path.insert(0, _ProjectFinder(self))
        sys.meta_path.append(_StubFinder(real, self.root))
        self._record()

    def _record(self) -> None:
        project = self

        def after(cls: type, note: Any) -> None:
            original = cls.__init__  # type: ignore[misc]

            def init(self: Any, *args: Any, **kwargs: Any) -> None:
                original(self, *args, **kwargs)
                note(self)

            cls.__init__ = init  # type: ignore[misc]

        def note_function(made: JITFunction) -> None:
            project.made[(made.fn.__code__.co_filename, made.fn.__code__.co_firstlineno)] = made

        after(JITFunction, note_function)
        after(Autotuner, lambda made: project.configs.setdefault(id(made.base_fn), made.configs))
        after(Heuristics, lambda made: project.heuristics.setdefault(id(made.base_fn), {}).update(made.values))

    def namespace(self, path: pathlib.Path) -> dict[str, Any]:
        """The globals of a file's module, which is imported if it isn't yet."""
        if path not in self._namespaces:
            name = self._module_name(path)
            try:
                importlib.import_module(name)
            except BaseException as error:
                self.skipped.append((str(path), 0, _short(error)))
            if path not in self._namespaces:  # the parents failed: run it on its own
                self.run_file(path, {"__name__": name, "__file__": str(path), "__package__": name.rpartition(".")[0]})
        return self._namespaces[path]

    def _module_name(self, path: pathlib.Path) -> str:
        for root in sorted(self.roots, key=lambda r: -len(r.parts)):
            if path.is_relative_to(root):
                parts = list(path.relative_to(root).with_suffix("").parts)
                if parts[-1] == "__init__":
                    parts.pop()
                return ".".join(parts)
        return path.stem

    def run_file(self, path: pathlib.Path, namespace: dict[str, Any]) -> None:
        """Runs a file's statements one by one in ``namespace``."""
        self._namespaces[path] = namespace
        namespace.setdefault("__builtins__", __builtins__)
        namespace.setdefault("__annotations__", {})
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError) as error:
            self.skipped.append((str(path), 0, _short(error)))
            return
        future = [s for s in tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
        for statement in tree.body:
            self.run_statement(statement, str(path), namespace, future)

    def run_statement(self, statement: ast.stmt, file: str, namespace: dict[str, Any], future: list[Any] = []) -> None:  # noqa: B006
        """Runs one statement; if it fails, the names that it would have bound are stubs."""
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            return
        try:
            with _time_limit(20):
                exec(compile(ast.Module([*future, statement], []), file, "exec"), namespace)
            return
        except BaseException as error:
            self.skipped.append((file, statement.lineno, _short(error)))
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            # What failed may stand before a definition.
            for inner in [*statement.body, *getattr(statement, "orelse", [])]:
                self.run_statement(inner, file, namespace, future)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                single = ast.copy_location(ast.ImportFrom(statement.module, [alias], statement.level), statement)
                if len(statement.names) > 1:
                    self.run_statement(single, file, namespace, future)
                else:
                    namespace.setdefault(alias.asname or alias.name, Stub(alias.name))
        else:
            for name in _bound_names(statement):
                namespace.setdefault(name, Stub(name))

    def function(self, definition: Any) -> JITFunction | None:
        """The JITFunction of a definition: as its module made it, else made from the definition alone."""
        namespace = self.namespace(definition.path)
        made = self.made.get((str(definition.path), definition.first_line))
        if made is not None:
            return made
        local = dict(namespace)
        for outer in definition.outer:
            if isinstance(outer, ast.FunctionDef):
                for statement in outer.body:
                    if isinstance(statement, (ast.Assign, ast.Import, ast.ImportFrom, ast.AnnAssign)):
                        self.run_statement(statement, str(definition.path), local)
        node = copy.copy(definition.node)
        node.decorator_list = []
        exec(compile(ast.Module([node], []), str(definition.path), "exec"), local)
        function = local[definition.name]
        return JITFunction(function)


class _time_limit:
    """Raises TimeoutError in the main thread after so many seconds."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        def stop(*_: Any) -> None:
            raise TimeoutError("took too long")

        self._left = signal.alarm(0)
        self._before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(self._seconds)

    def __exit__(self, *_: Any) -> None:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self._before)
        if self._left:
            signal.alarm(max(1, self._left))


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:200]


def _bound_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, ast.Import):
        return [a.asname or a.name.partition(".")[0] for a in statement.names]
    return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _import_roots(root: pathlib.Path) -> list[pathlib.Path]:
    """Folders that absolute imports of the project start from: its root, ``src``, and wherever a topmost package lies."""
    if root.is_file():
        return [root.parent]
    roots = [root]
    for init in sorted(root.rglob("__init__.py")):
        if not (init.parent.parent / "__init__.py").exists() and init.parent.parent not in roots:
            roots.append(init.parent.parent)
    return roots


def _pretend_gpu() -> None:
    """Answers the questions that modules ask of a GPU while being imported."""
    import torch

    properties = types.SimpleNamespace(
        name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=1 << 37, warp_size=32,
        shared_memory_per_block=49152, shared_memory_per_block_optin=232448, regs_per_multiprocessor=65536,
        shared_memory_per_multiprocessor=233472, max_threads_per_multi_processor=2048, L2_cache_size=50 << 20, gcnArchName="",
    )  # fmt: skip
    torch.cuda.get_device_properties = lambda *_: properties
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_name = lambda *_: "NVIDIA H200"
    torch.cuda.current_device = lambda: 0
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
