"""The tiers that this machine has. Importing the package starts no driver: a GPU's tiers come with the first memory on it."""

from .. import _trivet, dispatch
from .interpreter import InterpreterTier

interpreter = InterpreterTier()
dispatch.register(interpreter)


def _load_cuda() -> None:
    if _trivet.gpu_problem() is None:
        from .cuda import CudaTier, MirrorTier

        dispatch.register(CudaTier())
        dispatch.register(MirrorTier())


dispatch.register_when_needed("cuda", _load_cuda)
