"""The package's functions as the library calls them, for the files of `distributed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor.public_functions import own_namespace

__all__ = ["f", "linalg"]

if TYPE_CHECKING:
    import rushlight as f

    from ..nn._ground import linalg
else:
    f = own_namespace("").module("rushlight's functions")
    linalg = own_namespace("linalg").module("rushlight's linalg")
