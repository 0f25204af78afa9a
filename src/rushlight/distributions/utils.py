"""What distributions share: broadcasting parameters, probabilities and logits, lazy attributes."""

from __future__ import annotations

from functools import update_wrapper
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar, cast

from ._ground import Tensor, dtypes, enable_grad, f, finfo, softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.annotations import Shape
    from .._base.device import device
    from .._base.dtypes import dtype

T = TypeVar("T")
#: What counts as a number: of NumPy's, those that are Python's too.
NUMBERS: Final = (int, float)
euler_constant = 0.57721566490153286060


def broadcast_all(*values: Tensor | float) -> tuple[Tensor, ...]:
    """The values as tensors of one shape; numbers take the dtype of the first tensor.

    Raises: ValueError for anything else.
    """
    if not all(_is_tensor(v) or isinstance(v, NUMBERS) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    first = next((v for v in values if _is_tensor(v)), None)
    if first is None:
        default = dtypes.get_default_dtype()
        made = [f.tensor(v, dtype=default) for v in values]
    else:
        made = [v if _is_tensor(v) else f.tensor(v, dtype=first.dtype) for v in values]
    return tuple(f.broadcast_tensors(*made))


def _is_tensor(value: object) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


is_tensor_like = _is_tensor


def _attribute(path: str, doc: str | None = None) -> Tensor:
    """A property that gives a tensor of the distribution, or of one that it is made of."""
    get = attrgetter(path)
    return cast("Tensor", property(lambda self: get(self), doc=doc))


def _standard_normal(shape: Shape, dtype: dtype, device: device) -> Tensor:
    return f.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` axes."""
    if dim == 0:
        return value
    return value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities: by the sigmoid where there are two outcomes, else by softmax."""
    return f.sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1 by the dtype's eps."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log odds where there are two outcomes, else log probabilities."""
    kept = clamp_probs(probs)
    return f.log(kept) - f.log1p(-kept) if is_binary else f.log(kept)


class _LazyProperty:
    """An attribute that is computed when it is first read, and stored on the instance."""

    def __init__(self, wrapped: Callable[..., object]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


if TYPE_CHECKING:
    from collections.abc import Callable

    def lazy_property(wrapped: Callable[..., T]) -> T: ...

else:
    lazy_property = _LazyProperty


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of matrices, row by row.

    Raises: ValueError where `diag` leads outside of the matrix.
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    row, column = f.tril_indices(n, n, diag)
    return mat[..., row, column]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Lower triangular matrices from their entries, row by row.

    Raises: ValueError where no matrix has that number of entries.
    """
    length = vec.shape[-1]
    n = (
        -(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1)) ** 0.5
    ) / 2
    if round(n) - n > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    size = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], size, size))
    row, column = f.tril_indices(size, size, diag)
    mat[..., row, column] = vec
    return mat


__all__ = [
    "broadcast_all", "clamp_probs", "euler_constant", "is_tensor_like", "lazy_property",
    "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip
