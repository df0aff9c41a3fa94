"""Tensor descriptors made on the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class TensorDescriptor:
    """A tensor that a kernel reads and writes by blocks.

    Attributes:
        base: the tensor.
        shape: extents, in elements.
        strides: in elements; the last is 1.
        block_shape: extents of the blocks that the kernel loads and stores.
        padding: what a load gives outside the tensor: ``"zero"`` or ``"nan"``.
    """

    base: Any
    shape: list
    strides: list
    block_shape: list
    padding: str = "zero"

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= 5:
            raise ValueError(f"a tensor descriptor has rank 1 to 5, found {rank}")
        for name in ("strides", "block_shape"):
            if len(getattr(self, name)) != rank:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries, shape has {rank}")
        if self.strides[-1] != 1:
            raise ValueError(f"the last dimension must be contiguous (stride 1), found strides {list(self.strides)}")
        if self.padding not in ("zero", "nan"):
            raise ValueError(f"padding must be 'zero' or 'nan', found {self.padding!r}")
        item = getattr(self.base, "element_size", None)
        bytes_per_item = item() if callable(item) else self.base.itemsize
        for stride in self.strides[:-1]:
            if stride * bytes_per_item % 16 != 0:
                raise ValueError(f"strides must be multiples of 16 bytes, found {stride} x {bytes_per_item} bytes")

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Any, padding: str = "zero") -> Any:
        """The descriptor of a whole tensor."""
        strides = tensor.stride() if callable(getattr(tensor, "stride", None)) else [
            s // tensor.itemsize for s in tensor.strides
        ]  # fmt: skip
        return TensorDescriptor(tensor, list(tensor.shape), list(strides), list(block_shape), padding)
