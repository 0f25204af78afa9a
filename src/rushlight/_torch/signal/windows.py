"""Tapering windows for spectra: Hann, Hamming, Blackman, Kaiser and their kin.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._tensor import public_functions as _functions

_functions.namespace("signal.windows").serve(globals())

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
