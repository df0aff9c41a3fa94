"""What all tests in Python share: one settings profile for hypothesis, and PyTorch where it is installed."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[2]

# A slow machine is no failure, and a failure must come back on the next run: no deadline, inputs from a fixed seed.
hypothesis.settings.register_profile("trivet", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("trivet")

HAVE_TORCH = importlib.util.find_spec("torch") is not None


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers used here; keep workers from starting more threads than there are processors."""
    config.addinivalue_line("markers", "needs_torch: skipped, and counted as such, where PyTorch is not installed")
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs PyTorch where it is missing."""
    if HAVE_TORCH:
        return
    for item in items:
        if item.get_closest_marker("needs_torch"):
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch, one thread per worker; the test is skipped without it."""
    module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if "PYTEST_XDIST_WORKER" in os.environ:
        module.set_num_threads(1)
    return module


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root, for golden files and examples."""
    return ROOT
