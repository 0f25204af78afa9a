"""How files are read and written: byte order, checksums, and whether data are written at all."""

from __future__ import annotations

import enum
import mmap

__all__ = [
    "LoadEndianness",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
    "skipping",
]


class LoadEndianness(enum.Enum):
    """The byte orders that a file without a record of its own may be taken to have.

    Example:
        >>> torch.serialization.LoadEndianness.LITTLE.name
        'LITTLE'
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _State:
    endianness: LoadEndianness | None = None
    crc32 = True
    mmap_flags: int = getattr(mmap, "MAP_PRIVATE", 2)
    skips = False


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order that files without a record of it are taken to have; None: little.

    Returns: LoadEndianness or None.
    Example:
        >>> torch.serialization.get_default_load_endianness() is None
        True
    """
    return _State.endianness


def set_default_load_endianness(endianness: object) -> None:
    """Sets the byte order that files without a record of it are taken to have.

    Raises:
        TypeError: for anything but a `LoadEndianness` or None.

    Parameters:
        endianness: a `LoadEndianness`; None: little.
    Example:
        >>> torch.serialization.set_default_load_endianness(None)
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _State.endianness = endianness


def get_crc32_options() -> bool:
    """Whether checksums are asked for; they are always written.

    Returns: bool: True at the start.
    Example:
        >>> torch.serialization.get_crc32_options()
        True
    """
    return _State.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Accepted: checksums are always written, which every reader may ignore.

    Parameters:
        compute_crc32: what `get_crc32_options` is to say.
    Raises: nothing.
    Example:
        >>> torch.serialization.set_crc32_options(True)
    """
    _State.crc32 = compute_crc32


def get_default_mmap_options() -> int:
    """The flags with which `load(mmap=True)` maps files.

    Returns: int: `mmap.MAP_PRIVATE` at the start: writing to a tensor leaves the file alone.
    Example:
        >>> import mmap
        >>> torch.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
        True
    """
    return _State.mmap_flags


class set_default_mmap_options:
    """Sets the flags (`mmap.MAP_PRIVATE` or `MAP_SHARED`) for good, or in a `with` block.

    Raises:
        ValueError: for other flags.

    Parameters:
        flags: one of the two.
    Example:
        >>> import mmap
        >>> with torch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        ...     torch.serialization.get_default_mmap_options() == mmap.MAP_SHARED
        True
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, "
                f"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self._before = _State.mmap_flags
        _State.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _State.mmap_flags = self._before


class skip_data:
    """A context in which `save` writes zeros for the data of tensors, and `load` reads none.

    Parameters:
        materialize_fake_tensors: accepted; there are none here.
    Raises: nothing.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> with torch.serialization.skip_data():
        ...     torch.save(torch.ones(2), file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = _State.skips
        _State.skips = True

    def __exit__(self, *exc: object) -> None:
        _State.skips = self._before


def skipping() -> bool:
    """Whether data are skipped now."""
    return _State.skips
