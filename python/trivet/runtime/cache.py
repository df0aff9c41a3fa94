"""``triton.runtime.cache``: files that belong to a key, in a folder that processes share.

Programs keep what they generate there (launchers, tuning results). The interpreter itself keeps nothing on disk.
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from abc import ABC, abstractmethod
from typing import Any

from .. import knobs
from ..version import TRIVET_VERSION


def default_cache_dir() -> str:
    """The folder for results on disk: that of ``knobs.cache.dir``."""
    return knobs.cache.dir


def default_dump_dir() -> str:
    """The folder for files written for people to read."""
    return os.path.join(knobs.cache.dir, "dump")


def default_override_dir() -> str:
    """The folder for files that replace what would be generated."""
    return os.path.join(knobs.cache.dir, "override")


def triton_key() -> str:
    """A text that changes with the compiler, for keys of caches."""
    return f"trivet-{TRIVET_VERSION}"


class CacheManager(ABC):
    """The files of one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a file; None if it isn't there."""

    @abstractmethod
    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        """Writes a file and gives its path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """Paths of the files of a group, by name; None if there is no such group."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Notes which files belong together, and gives the path of the note."""


class FileCacheManager(CacheManager):
    """The files of one key, in a folder of their own. Writing is atomic: other processes see a whole file or none."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        base = default_dump_dir() if dump else default_override_dir() if override else default_cache_dir()
        self.cache_dir = os.path.join(base, key)
        os.makedirs(self.cache_dir, exist_ok=True)

    def _path(self, filename: str) -> pathlib.Path:
        return pathlib.Path(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return self._path(filename).exists()

    def get_file(self, filename: str) -> str | None:
        return str(self._path(filename)) if self.has_file(filename) else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        if not isinstance(data, bytes):
            data = str(data).encode()
        path = self._path(filename)
        handle, temporary = tempfile.mkstemp(dir=self.cache_dir, prefix=f".{filename}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        return str(path)

    def get_group(self, filename: str) -> dict[str, str] | None:
        try:
            paths = json.loads(self._path(_note(filename)).read_text())["child_paths"]
        except (OSError, ValueError, KeyError):
            return None
        return {name: path for name, path in paths.items() if os.path.exists(path)}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), _note(filename), binary=False)


def _note(filename: str) -> str:
    return f"__grp__{filename}"


def get_cache_manager(key: str) -> CacheManager:
    """The files kept under a key."""
    return FileCacheManager(key)


def get_override_manager(key: str) -> CacheManager:
    """The files that replace generated ones under a key."""
    return FileCacheManager(key, override=True)


def get_dump_manager(key: str) -> CacheManager:
    """The files written for people to read under a key."""
    return FileCacheManager(key, dump=True)
