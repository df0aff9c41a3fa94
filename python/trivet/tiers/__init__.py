"""The tiers that this machine has. Importing the package registers them."""

from .. import dispatch
from .interpreter import InterpreterTier

interpreter = InterpreterTier()
dispatch.register(interpreter)
