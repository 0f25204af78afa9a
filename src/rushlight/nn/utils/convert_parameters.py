"""Parameters as one long vector, and back."""

from collections.abc import Iterable

from .._ground import Tensor, f, typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, in order, as one vector; differentiable."""
    flat = []
    for parameter in parameters:
        parameter.device  # noqa: B018  (what is no tensor is found here)
        flat.append(parameter.view(-1))
    return f.cat(flat)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the slices of `vec` the data of the parameters, in order; memory is shared.

    Raises: TypeError, if `vec` isn't a tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data
        start += count
