"""Tapering windows for spectra: Hann, Hamming, Blackman, Kaiser and their kin.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .. import ops as _ops

_TABLE: Final[dict[str, Any]] = {
    name: function
    for (namespace, name), function in _ops.PUBLIC.items()
    if namespace == "signal.windows"
}
globals().update(_TABLE)

__all__ = sorted(_TABLE)  # noqa: PLE0605  (the table says what there is)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:

    def __getattr__(name: str) -> Any:
        """Says in whose name a function is missing."""
        raise AttributeError(
            f"module '{__name__}' has no attribute '{name}' (Rushlight doesn't have it)"
        )
