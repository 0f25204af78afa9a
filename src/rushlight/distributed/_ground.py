"""The package's functions as the library calls them, for the files of `distributed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor.public_functions import own_namespace

__all__ = ["f"]

if TYPE_CHECKING:
    import rushlight as f
else:
    f = own_namespace("").module("rushlight's functions")
