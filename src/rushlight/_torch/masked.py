"""Reductions and normalisations that leave masked-out elements aside.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._tensor import public_functions as _functions

_REFUSED: Final = ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor")
_functions.namespace("masked").serve(globals(), *_REFUSED)

_ABSENT = (
    "Rushlight has no tensors that carry a mask; the functions of torch.masked take tensors with "
    "mask=…"
)


class MaskedTensor:
    """PyTorch's prototype of a tensor with a mask: it can be asked for, but not made.

    Raises: NotImplementedError when it is made.
    """

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        raise NotImplementedError(_ABSENT)


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """Raises NotImplementedError: there are no tensors that carry a mask."""
    raise NotImplementedError(_ABSENT)


def as_masked_tensor(data: Any, mask: Any) -> Any:
    """Raises NotImplementedError: there are no tensors that carry a mask."""
    raise NotImplementedError(_ABSENT)


def is_masked_tensor(obj: Any, /) -> bool:
    """False: there are no tensors that carry a mask."""
    return isinstance(obj, MaskedTensor)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
