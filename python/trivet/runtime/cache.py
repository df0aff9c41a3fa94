"""``triton.runtime.cache``: where compiled things are kept. The interpreter keeps nothing on disk."""

import os


def default_cache_dir():
    """The folder for results on disk (autotuning)."""
    return os.environ.get("TRIVET_CACHE_DIR") or os.path.join(os.path.expanduser("~"), ".cache", "trivet")
