"""Clipping gradients, by their common norm or by value."""

import warnings
from collections.abc import Iterable

from .._ground import Tensor, f, linalg, no_grad

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    several = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in several if parameter.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of the tensors' norms, as a 0-d tensor: that of all elements in one vector.

    `foreach` is accepted; there is one way to do it.

    Raises: RuntimeError, for a norm that isn't finite, with `error_if_nonfinite`.

    Parameters:
        tensors: one tensor or several.
        norm_type: which norm: p, or infinity.
        error_if_nonfinite: whether a norm that isn't finite raises.
        foreach: nothing here: there is one implementation.
    Shapes: any; the result has no dimensions.
    Returns: the norm of all elements together.
    Example:
        >>> nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
        tensor(5.)
    """
    with no_grad():
        several = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        norm_type = float(norm_type)
        total: Tensor
        if not several:
            total = f.tensor(0.0)
            return total
        norms = [linalg.vector_norm(tensor, norm_type) for tensor in several]
        total = linalg.vector_norm(f.stack(norms), norm_type)
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is "
                "non-finite, so it cannot be clipped. To disable this error and scale the "
                "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
            )
        return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scales the gradients, in place, as if their norm were `total_norm`, down to `max_norm`.

    Parameters:
        parameters: one tensor or several, whose gradients are scaled.
        max_norm: the greatest norm that they may have.
        total_norm: the norm that they have, as `get_total_norm` gives it.
        foreach: nothing here: there is one implementation.
    Shapes: any.
    Raises: ValueError: for a `max_norm` that is no number.
    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grads_with_norm_(w, 1.0, torch.tensor(5.0))
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    with no_grad():
        # Multiplying by 1 where nothing is to be clipped keeps NaN visible, and costs a pass.
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in _grads(parameters):
            grad.mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients, in place, to a common norm of at most `max_norm`; returns the old norm.

    Raises: RuntimeError, for a norm that isn't finite, with `error_if_nonfinite`.

    Parameters:
        parameters: one tensor or several, whose gradients are clipped.
        max_norm: the greatest norm that all of them together may have.
        norm_type: which norm: p, or infinity.
        error_if_nonfinite: whether a norm that isn't finite raises.
        foreach: nothing here: there is one implementation.
    Shapes: any; the result has no dimensions.
    Returns: the norm before it was clipped.
    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_(w, 1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    several = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_grads(several), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(several, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """`clip_grad_norm_` under its old name, which warns.

    Parameters:
        parameters, max_norm, norm_type, error_if_nonfinite, foreach: as `clip_grad_norm_` takes
            them.
    Shapes: any; the result has no dimensions.
    Returns: the norm before it was clipped.
    Raises: RuntimeError: for a norm that isn't finite, with `error_if_nonfinite`.
    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm(w, 1.0)
        tensor(5.)
    """
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Holds every element of the gradients within ±`clip_value`, in place.

    Parameters:
        parameters: one tensor or several, whose gradients are clipped.
        clip_value: the greatest size of an element.
        foreach: nothing here: there is one implementation.
    Shapes: any.
    Raises:
        RuntimeError: for a number that is none.
    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, -0.5])
        >>> nn.utils.clip_grad_value_(w, 1.0)
        >>> w.grad
        tensor([ 1.0000, -0.5000])
    """
    bound = float(clip_value)
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-bound, max=bound)
