"""Which interpreters' objects can be read, and the places that all of them have.

The version is asked first: of another one nothing is read, for a probe of an unknown layout may
look where nothing lies.
"""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from typing import Final

from .memory import word

#: Minor versions of CPython 3 whose layout is known.
VERSIONS: Final = range(11, 15)
TYPE: Final = 8  # an object's class; the count of its references lies before
BYTES: Final = 32  # the content of a bytes object
FLOAT: Final = 16  # the value of a float


@cache
def unknown() -> str | None:
    """Why this interpreter's objects can't be read; None where they can."""
    if sys.implementation.name != "cpython":
        return f"{sys.implementation.name} is not CPython"
    if sys.version_info[0] != 3 or sys.version_info[1] not in VERSIONS:
        return f"CPython {sys.version_info[0]}.{sys.version_info[1]} is not known"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this CPython has no lock"
    if sys.maxsize < 2**32 or sys.byteorder != "little":
        return "words are not of 64 bits, the lowest first"
    return _otherwise()


def _otherwise() -> str | None:
    content = b"12345678"
    if object.__basicsize__ != 16 or word(id(object()) + TYPE) != id(object):
        return "objects begin otherwise"
    inside = bytes.__basicsize__ == BYTES + 1
    if not inside or word(id(content) + BYTES) != int.from_bytes(content, "little"):
        return "bytes keep their content elsewhere"
    if float.__basicsize__ != 24 or word(id(1.0) + FLOAT) != 0x3FF0 << 48:
        return "floats keep their value elsewhere"
    return None
