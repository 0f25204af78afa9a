"""Discrete Fourier transforms: of complex, real and Hermitian signals, in one or more dimensions.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._tensor import public_functions as _functions

_functions.namespace("fft").serve(globals())

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
