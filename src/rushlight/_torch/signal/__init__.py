"""Signal processing: the windows of spectra, in `signal.windows`."""

from __future__ import annotations

from . import windows

__all__ = ["windows"]
