"""Tensors spread over processes: programs ask whether a tensor is of this class."""

from __future__ import annotations

from typing import Any

from ..advice import advised
from ..tensor import Tensor

__all__ = ["DTensor"]


class DTensor(Tensor):
    """Raises: there is one process, so nothing to spread a tensor over.

    Raises:
        RuntimeError: always.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> DTensor:
        raise advised(
            RuntimeError("DTensor spreads a tensor over several processes"),
            "Rushlight runs in one process: use a plain tensor",
        )
