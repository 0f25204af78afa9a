"""`torch.sparse`: tensors of which only some elements are stored, and what is done with them.

Compressed columns, blocks and semi-structured forms aren't here and say so.
"""

from __future__ import annotations

from typing import Any, NoReturn

from . import arithmetic, products
from .arithmetic import sum_of as sum
from .coordinates import SparseTensor
from .make import INVARIANTS, sparse_coo_tensor, sparse_mask, spdiags, to_sparse
from .products import addmm, log_softmax, mm, softmax
from .rows import RowsTensor, sparse_csr_tensor, to_sparse_csr
from .typed import TYPES as _TYPES

__all__ = [
    "RowsTensor", "SparseSemiStructuredTensor", "SparseTensor", "addmm", "as_sparse_gradcheck",
    "check_sparse_tensor_invariants", "log_softmax", "mm", "smm", "softmax", "solve",
    "sparse_coo_tensor", "sparse_csr_tensor", "sparse_mask", "spdiags", "spmm", "sum", "to_sparse",
    "to_sparse_csr", "to_sparse_semi_structured",
]  # fmt: skip
spmm = smm = mm
globals().update(_TYPES)


class SparseSemiStructuredTensor:
    """Two values of each four; can't be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        to_sparse_semi_structured(*args, **kwargs)


def to_sparse_semi_structured(original_tensor: Any, transposed: bool = False) -> NoReturn:
    """Raises NotImplementedError: there is no such form."""
    raise NotImplementedError(
        "to_sparse_semi_structured: Rushlight has no semi-structured form; sparse tensors are made "
        "by Tensor.to_sparse()"
    )


def solve(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: there is no sparse solver."""
    raise NotImplementedError(
        "torch.sparse.solve isn't there: call torch.linalg.solve(a.to_dense(), b)"
    )


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """The function itself: values are ordinary tensors."""
    return gradcheck


class check_sparse_tensor_invariants:
    """A context, or a decorator, in which the places of new sparse tensors are checked."""

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


_ = (arithmetic, products)
