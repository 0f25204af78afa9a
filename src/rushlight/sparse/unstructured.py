"""What `torch.sparse` has beside its tensors: the check of their places, and what isn't there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from .make import INVARIANTS

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


__all__ = [
    "SparseSemiStructuredTensor", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "solve",
    "to_sparse_semi_structured",
]  # fmt: skip


class SparseSemiStructuredTensor:
    """Two values of each four; can't be made.

    Parameters:
        args: what PyTorch's takes.
    Raises: NotImplementedError: always.
    Example:
        >>> isinstance(torch.ones(1), torch.sparse.SparseSemiStructuredTensor)
        False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        to_sparse_semi_structured(*args, **kwargs)


def to_sparse_semi_structured(original_tensor: Tensor, transposed: bool = False) -> NoReturn:
    """Raises NotImplementedError: there is no such form.

    Parameters:
        original_tensor, transposed: what PyTorch's takes: a matrix, whether it is turned.
    """
    raise NotImplementedError(
        "to_sparse_semi_structured: Rushlight has no semi-structured form; sparse tensors are made "
        "by Tensor.to_sparse()"
    )


def solve(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: there is no sparse solver.

    Parameters:
        args: what PyTorch's takes: a matrix and a right-hand side.
    """
    raise NotImplementedError(
        "torch.sparse.solve isn't there: call torch.linalg.solve(a.to_dense(), b)"
    )


def as_sparse_gradcheck(gradcheck: object) -> object:
    """The function itself: values are ordinary tensors.

    Parameters:
        gradcheck: a function that checks gradients.
    Returns: the same.
    Raises: nothing.
    Example:
        >>> check = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
        >>> check is torch.autograd.gradcheck
        True
    """
    return gradcheck


class check_sparse_tensor_invariants:
    """A context, or a decorator, in which the places of new sparse tensors are checked.

    Parameters:
        enable: whether they are.
    Raises: nothing.
    Example:
        >>> with torch.sparse.check_sparse_tensor_invariants():
        ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
        True
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self._before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether places are checked where nobody says."""
        return INVARIANTS.checked

    @staticmethod
    def enable() -> None:
        """Has places checked where nobody says."""
        INVARIANTS.checked = True

    @staticmethod
    def disable() -> None:
        """Has places not checked where nobody says."""
        INVARIANTS.checked = False

    def __enter__(self) -> None:
        self._before = INVARIANTS.checked
        INVARIANTS.checked = self.state

    def __exit__(self, *exc: object) -> None:
        INVARIANTS.checked = bool(self._before)
