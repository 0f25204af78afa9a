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

    Parameters:
        data, mask, requires_grad: what PyTorch's takes: elements, truths, whether it is recorded.
    Example:
        >>> isinstance(torch.ones(1), torch.masked.MaskedTensor)
        False
    """

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        raise NotImplementedError(_ABSENT)


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """Raises NotImplementedError: there are no tensors that carry a mask.

    Parameters:
        data, mask, requires_grad: what PyTorch's takes: elements, truths, whether it is recorded.
    Returns: nothing.
    Raises: NotImplementedError: always.
    Example:
        >>> x, mask = torch.tensor([1.0, 2.0]), torch.tensor([True, False])
        >>> torch.masked.sum(x, mask=mask)  # instead
        tensor(1.)
    """
    raise NotImplementedError(_ABSENT)


def as_masked_tensor(data: Any, mask: Any) -> Any:
    """Raises NotImplementedError: there are no tensors that carry a mask.

    Parameters:
        data, mask: what PyTorch's takes: elements and truths.
    Returns: nothing.
    Raises: NotImplementedError: always.
    Example:
        >>> x, mask = torch.tensor([1.0, 3.0]), torch.tensor([True, True])
        >>> torch.masked.mean(x, mask=mask)  # instead
        tensor(2.)
    """
    raise NotImplementedError(_ABSENT)


def is_masked_tensor(obj: Any, /) -> bool:
    """False: there are no tensors that carry a mask.

    Parameters:
        obj: any value.
    Returns: bool: False.
    Raises: nothing.
    Example:
        >>> torch.masked.is_masked_tensor(torch.ones(1))
        False
    """
    return isinstance(obj, MaskedTensor)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
