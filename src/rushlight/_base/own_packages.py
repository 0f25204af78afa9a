"""Which packages are this one: `rushlight`, and `torch` too once that name means Rushlight."""

from __future__ import annotations

from typing import Final

__all__ = ["OWN_PACKAGES", "is_own", "package_name"]

#: First parts of the modules that own classes and functions say they come from.
OWN_PACKAGES: Final[set[str]] = {"rushlight"}


def is_own(module: str | None) -> bool:
    """Whether what says that it comes from this module is this package's."""
    return (module or "").partition(".")[0] in OWN_PACKAGES


def package_name() -> str:
    """The name by which this package goes: what its functions say when they are made."""
    return "torch" if "torch" in OWN_PACKAGES else "rushlight"
