"""Versions, in one place."""

TRIVET_VERSION = "0.1.0"
# The version of the Triton language and Python surface that Trivet offers. Programs compare `triton.__version__` with it.
TRITON_VERSION = "3.6.0"
__version__ = f"{TRITON_VERSION}+trivet.{TRIVET_VERSION}"
