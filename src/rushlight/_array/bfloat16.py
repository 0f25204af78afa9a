"""The NumPy type that stores bfloat16: that of ml_dtypes, else the one of the compiled core.

Where ml_dtypes is installed, arrays cross to the libraries that know its type. A pickle of an array
of the core's type names this module, and is read as the type that is in use. Where there is
neither, the import fails.
"""

from __future__ import annotations

from typing import Final

from .._base.lazy import load


def _find() -> type:
    try:
        import ml_dtypes
    except ImportError:
        found: type = load("_native.number_types.bfloat16:bfloat16")
    else:
        found = ml_dtypes.bfloat16
    return found


bfloat16: Final = _find()
