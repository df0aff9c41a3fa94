"""``triton.runtime.cache``: where compiled things are kept. The interpreter keeps nothing on disk."""

from .. import knobs


def default_cache_dir():
    """The folder for results on disk (autotuning)."""
    return knobs.cache.dir
