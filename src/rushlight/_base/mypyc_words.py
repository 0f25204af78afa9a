"""Build-time words for mypyc; at run time they mean nothing and need no mypy_extensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(*attrs: str, **kwattrs: object) -> Any:
        """Leaves a class as it is."""
        return lambda cls: cls


__all__ = ["mypyc_attr"]
