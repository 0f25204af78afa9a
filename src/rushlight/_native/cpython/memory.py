"""Reading memory where it lies."""

from __future__ import annotations

import ctypes
from typing import Any, Final

_LEAST: Final = 1 << 16  # no process has memory below


def word(address: int) -> int:
    """The word that lies at an address, as a signed integer."""
    return ctypes.c_int64.from_address(address).value


def leads_somewhere(address: int) -> bool:
    """Whether a word may be the address of words: a length, a count, flags are none."""
    return address >= _LEAST and not address % 8


def half(address: int) -> int:
    """The 32 bits that lie at an address, as an unsigned integer."""
    return ctypes.c_uint32.from_address(address).value


def byte(address: int) -> int:
    """The byte that lies at an address."""
    return ctypes.c_uint8.from_address(address).value


def window(address: int, size: int) -> Any:
    """So many bytes as they lie, to be looked at again and again."""
    return (ctypes.c_char * size).from_address(address)
