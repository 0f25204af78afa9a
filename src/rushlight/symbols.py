"""`torch.SymInt` and its kin: sizes that are not known yet. Programs ask for them; none is made."""

from __future__ import annotations

__all__ = ["SymBool", "SymFloat", "SymInt"]


class SymInt:
    """A whole number that is not known yet. There is none: every size is a plain `int`."""

    __module__ = "torch"


class SymFloat:
    """A number that is not known yet. There is none."""

    __module__ = "torch"


class SymBool:
    """A truth that is not known yet. There is none."""

    __module__ = "torch"
