"""References that nobody gives back: for what native code and its threads may point at."""

from __future__ import annotations

import ctypes


def keep_forever(thing: object) -> None:
    """Keeps an object alive until the process ends, beyond the modules' own end."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
