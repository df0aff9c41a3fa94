"""``triton.backends``: what kernels are compiled for.

``backends`` has no entries: by it PyTorch finds out whether its graph compiler may emit Triton code for a device, and such code
uses a compiler's internals that there is no need for here. ``torch.compile`` then uses PyTorch's own back end.
"""

backends: dict[str, type] = {}
