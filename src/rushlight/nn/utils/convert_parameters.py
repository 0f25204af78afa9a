"""Parameters as one long vector, and back."""

from collections.abc import Iterable

from .._ground import Tensor, f, typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, in order, as one vector; differentiable.

    Parameters:
        parameters: the tensors, in order.
    Shapes: any; the result (number of all elements).
    Returns: one vector of all elements.
    Raises:
        TypeError: for tensors on different devices.
    Example:
        >>> nn.utils.parameters_to_vector([torch.ones(2), torch.zeros(1, 2)])
        tensor([1., 1., 0., 0.])
    """
    flat = []
    for parameter in parameters:
        parameter.device  # noqa: B018  (what is no tensor is found here)
        flat.append(parameter.view(-1))
    return f.cat(flat)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the slices of `vec` the data of the parameters, in order; memory is shared.

    Raises: TypeError, if `vec` isn't a tensor.

    Parameters:
        vec: a vector of all elements.
        parameters: the tensors that are filled, in order.
    Shapes: vec (number of all elements).
    Example:
        >>> w = torch.zeros(2, 2)
        >>> nn.utils.vector_to_parameters(torch.arange(4.0), [w])
        >>> w
        tensor([[0., 1.],
                [2., 3.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data
        start += count
