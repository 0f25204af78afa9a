"""Tensors spread over processes: programs ask whether a tensor is of this class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ..._base.error_notes import advised
from ..._tensor.tensor import Tensor

if TYPE_CHECKING:
    from ...nn.modules.module import Module


__all__ = ["DTensor", "distribute_module", "distribute_tensor"]


class DTensor(Tensor):
    """Raises: there is one process, so nothing to spread a tensor over.

    Raises:
        RuntimeError: always.
    """

    def __new__(cls, *args: object, **kwargs: object) -> DTensor:
        raise advised(
            RuntimeError("DTensor spreads a tensor over several processes"),
            "Rushlight runs in one process: use a plain tensor",
        )


def _refused(what: str) -> NoReturn:
    raise advised(
        RuntimeError(f"{what} spreads a tensor over several processes"),
        "Rushlight runs in one process: use the module or the tensor itself",
    )


def distribute_tensor(tensor: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Raises RuntimeError: there is one process."""
    _refused("distribute_tensor")


def distribute_module(module: Module, *args: object, **kwargs: object) -> NoReturn:
    """Raises RuntimeError: there is one process."""
    _refused("distribute_module")
