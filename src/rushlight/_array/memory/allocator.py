"""Recycled memory: telling glibc's allocator to keep what it is given back.

A result of 128 KB or more is fresh memory from the kernel each time, and touching it costs a page
fault per 4 KB: three times the arithmetic at 10⁵-10⁶ float32 elements. Two allocator settings make
freed memory stay in the process and be handed out again. They hold for the whole process, so an
environment variable says so:

    RUSHLIGHT_MALLOC=1     (default) results up to 32 MB are recycled
    RUSHLIGHT_MALLOC=all   larger ones too; memory may fragment, and peaks are kept until
    `empty_cache()`
    RUSHLIGHT_MALLOC=0     the allocator is left alone

Where the C library is not glibc all of this does nothing. Why this way:
docs/decisions/0006-recycled-memory.md.
"""

from __future__ import annotations

import os
from typing import Any

# Names and values from glibc's malloc.h.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_MMAP_MAX = -4

# The largest threshold that glibc takes: half of a heap of 64 MB.
_LARGEST_THRESHOLD = 32 << 20
_NEVER_TRIM = (1 << 31) - 1
_GLIBC_THRESHOLD = 128 << 10
_GLIBC_MMAP_MAX = 65536

_enabled = False


def _glibc() -> Any:
    """The C library if it is glibc, else None."""
    if os.name != "posix":
        return None
    import ctypes

    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    # Only glibc has the first; the others are what is called here.
    wanted = ("gnu_get_libc_version", "mallopt", "malloc_trim")
    return library if all(hasattr(library, name) for name in wanted) else None


def enable(large: bool = False) -> bool:
    """Whether freed array memory is kept for reuse from now on: True on glibc, False where nothing
    is done.

    `large` includes blocks of more than 32 MB.
    """
    global _enabled
    library = _glibc()
    if library is None:
        return False
    # Both thresholds are needed: setting either one stops glibc from raising the other by itself.
    done = library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_THRESHOLD)
    done &= library.mallopt(_M_TRIM_THRESHOLD, _NEVER_TRIM)
    done &= library.mallopt(_M_MMAP_MAX, 0 if large else _GLIBC_MMAP_MAX)
    _enabled = bool(done)
    return _enabled


def disable() -> None:
    """Sets glibc's initial values again, if `enable` changed them, and gives free memory back."""
    global _enabled
    if not _enabled:
        return
    library = _glibc()
    library.mallopt(_M_MMAP_MAX, _GLIBC_MMAP_MAX)
    library.mallopt(_M_MMAP_THRESHOLD, _GLIBC_THRESHOLD)
    library.mallopt(_M_TRIM_THRESHOLD, _GLIBC_THRESHOLD)
    library.malloc_trim(0)
    _enabled = False


def empty_cache() -> bool:
    """Whether free memory was given back; False where there was none, or no glibc."""
    library = _glibc()
    return library is not None and bool(library.malloc_trim(0))


def is_enabled() -> bool:
    """Whether `enable` is in force."""
    return _enabled


def apply_environment() -> bool:
    """Does what the environment variable RUSHLIGHT_MALLOC says; whether memory is recycled."""
    choice = os.environ.get("RUSHLIGHT_MALLOC", "1").strip().lower()
    if choice in ("0", "off", "no", "false"):
        return False
    return enable(large=choice == "all")
