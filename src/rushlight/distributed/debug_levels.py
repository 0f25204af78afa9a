"""How much ranks tell of what they do: `DebugLevel`, from the environment or set by the program."""

from __future__ import annotations

import enum
import os

__all__ = ["DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]


class DebugLevel(enum.IntEnum):
    """How much ranks tell of what they do; with DETAIL they compare what they are about to do.

    Example:
        >>> dist.DebugLevel.DETAIL > dist.DebugLevel.INFO
        True
    """

    OFF = 0
    INFO = 1
    DETAIL = 2

    def __str__(self) -> str:
        return f"DebugLevel.{self.name}"


class _Current:
    level: DebugLevel | None = None  # None: what the environment says


def _read_environment() -> DebugLevel:
    named = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "").upper()
    if named and named not in DebugLevel.__members__:
        raise ValueError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    return DebugLevel[named or "OFF"]


def get_debug_level() -> DebugLevel:
    """The level that groups are made with from now on.

    Returns: what `set_debug_level` set, else what `TORCH_DISTRIBUTED_DEBUG` names; OFF by default.
    Raises: ValueError: where the environment names another than OFF, INFO or DETAIL.
    Example:
        >>> dist.get_debug_level().name in ("OFF", "INFO", "DETAIL")
        True
    """
    return _read_environment() if _Current.level is None else _Current.level


def set_debug_level(level: DebugLevel) -> None:
    """Sets the level of groups that are made from now on.

    Parameters:
        level: how much ranks tell, of `DebugLevel`.
    Raises: TypeError: for what isn't a `DebugLevel`.
    Example:
        >>> before = dist.get_debug_level()
        >>> dist.set_debug_level(dist.DebugLevel.INFO)
        >>> dist.get_debug_level().name
        'INFO'
        >>> dist.set_debug_level(before)
    """
    if not isinstance(level, DebugLevel):
        raise TypeError(
            "set_debug_level(): incompatible function arguments. The following argument types are "
            "supported:\n    1. (arg0: torch._C._distributed_c10d.DebugLevel) -> None"
        )
    _Current.level = level


def set_debug_level_from_env() -> None:
    """Sets the level that `TORCH_DISTRIBUTED_DEBUG` names; OFF where it is not set.

    Raises: ValueError: where it names another than OFF, INFO or DETAIL.
    Example:
        >>> dist.set_debug_level_from_env()
        >>> dist.get_debug_level().name in ("OFF", "INFO", "DETAIL")
        True
    """
    _Current.level = _read_environment()
