"""Linear algebra: solutions, decompositions, norms and products of matrices.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array.linalg.linalg import LinAlgError as LinAlgError
from .._tensor import public_functions as _functions

if TYPE_CHECKING:
    from collections.abc import Callable

_functions.namespace("linalg").serve(globals(), "LinAlgError")

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Any]: ...
