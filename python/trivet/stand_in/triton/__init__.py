"""``import triton`` in processes that a program run by Trivet starts: gives Trivet.

`trivet run` and the pytest plugin put this package's folder first into PYTHONPATH, which such processes inherit.
"""

import pathlib
import sys

try:
    import trivet.as_triton
except ModuleNotFoundError:  # the parent found Trivet otherwise than by what is inherited
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3]))
    import trivet.as_triton

trivet.as_triton.activate()
