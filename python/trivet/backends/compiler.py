"""``GPUTarget``: what a kernel is compiled for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GPUTarget:
    """A device: backend ('cpu', 'cuda'), architecture (90; 'x86_64'), lanes of a warp."""

    backend: str
    arch: int | str
    warp_size: int
