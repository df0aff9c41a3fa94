"""Tensors in the OCP microscaling formats: four-bit e2m1 numbers, and e8m0 scales.

Source: OCP Microscaling Formats (MX) Specification 1.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

# The eight magnitudes of e2m1, by code.
_MAGNITUDES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
_SCALE_BIAS = 127
_SCALE_NAN = 255


class _CodeTensor:
    """Codes in ``data`` (uint8), made from floats or, by ``random()``, at random."""

    _encode: Callable[[Any], Any]

    def __init__(self, data: Any = None, size: Any = None, device: Any = None) -> None:
        if data is None and size is None:
            raise ValueError("either data or size must be given")
        self.device = device if data is None else data.device
        if data is not None:
            self.data = self._encode(data)
        else:
            self.size = size if isinstance(size, tuple) else (size,)


class MXFP4Tensor(_CodeTensor):
    """e2m1 numbers, one code (0 to 15, sign in bit 3) an element of ``data``."""

    def random(self) -> Any:
        """Fills with random codes."""
        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The numbers as float32."""
        if dtype != torch.float32:
            raise ValueError(f"e2m1 converts to torch.float32, not to {dtype}")
        magnitude = _MAGNITUDES.to(self.data.device)[(self.data & 7).long()]
        return torch.where(self.data & 8 != 0, -magnitude, magnitude)

    @staticmethod
    def _encode(values: Any) -> Any:
        """Nearest code, ties to the even one; what is too large, infinite or NaN gives the largest magnitude."""
        magnitude = values.abs().float()
        magnitude = torch.where(torch.isfinite(magnitude), magnitude, torch.full_like(magnitude, 6.0))
        table = _MAGNITUDES.to(values.device)
        middles = (table[1:] + table[:-1]) / 2
        # At a tie the even code: `right` counts the middles that lie strictly below or, for odd lower codes, at the value.
        below = (magnitude.unsqueeze(-1) > middles).sum(-1)
        tied = (magnitude.unsqueeze(-1) == middles).any(-1)
        code = torch.where(tied & (below % 2 == 1), below + 1, below)
        return (code + 8 * torch.signbit(values)).to(torch.uint8)

    def to_packed_tensor(self, dim: Any) -> Any:
        """Two codes a byte along ``dim``, the even-numbered one in the low half; an odd extent is filled up with 0."""
        data = self.data
        if not 0 <= dim < data.ndim:
            raise ValueError(f"dim must be 0 to {data.ndim - 1}, found {dim}")
        if data.shape[dim] % 2 != 0:
            shape = list(data.shape)
            shape[dim] = 1
            data = torch.cat([data, data.new_zeros(shape)], dim)
        even = data.index_select(dim, torch.arange(0, data.shape[dim], 2, device=data.device))
        odd = data.index_select(dim, torch.arange(1, data.shape[dim], 2, device=data.device))
        return even | (odd << 4)

    def unpack_packed_tensor(self, packed_tensor: Any, dim: Any, original_shape: Any) -> Any:
        """The codes of a tensor made by ``to_packed_tensor``."""
        both = torch.stack([packed_tensor & 15, packed_tensor >> 4], dim + 1)
        shape = list(packed_tensor.shape)
        shape[dim] *= 2
        return both.reshape(shape).narrow(dim, 0, original_shape[dim]).to(torch.uint8)


class MXScaleTensor(_CodeTensor):
    """e8m0 scales: powers of two, code 255 is NaN."""

    def random(self, low: Any = None, high: Any = None) -> Any:
        """Fills with random scales between ``low`` and ``high``."""
        first = 0 if low is None else max(0, int(math.log2(low)) + _SCALE_BIAS)
        last = 254 if high is None else min(254, max(0, int(math.log2(high)) + _SCALE_BIAS))
        if first > last:
            raise ValueError("low must not be above high")
        self.data = torch.randint(first, last + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The scales as float32."""
        if dtype != torch.float32:
            raise ValueError(f"e8m0 converts to torch.float32, not to {dtype}")
        value = torch.exp2(self.data.float() - _SCALE_BIAS)
        return torch.where(self.data == _SCALE_NAN, torch.full_like(value, math.nan), value)

    @staticmethod
    def _encode(values: Any) -> Any:
        """The power of two not above the value; NaN for what is not a positive finite number."""
        valid = torch.isfinite(values) & (values > 0)
        exponent = torch.floor(torch.log2(torch.where(valid, values, torch.ones_like(values))))
        code = torch.clamp(exponent + _SCALE_BIAS, 0, 254)
        return torch.where(valid, code, torch.full_like(code, _SCALE_NAN)).to(torch.uint8)
