"""Norms of weights by slices, which weight normalisation divides by."""

from .._ground import Tensor, f

__all__ = ["norm_except_dim", "weight_of"]


def norm_except_dim(v: Tensor, power: int, dim: int) -> Tensor:
    """The norm of each slice of `v` along `dim`, with the other dimensions of size one; -1: all."""
    found: Tensor
    if dim == -1:
        found = v.norm(power)
        return found
    ones = (1,) * (v.dim() - 1)
    if dim == 0:
        found = v.reshape(v.size(0), -1).norm(power, 1).view(-1, *ones)
    elif dim == v.dim() - 1:
        found = v.reshape(-1, v.size(-1)).norm(power, 0).view(*ones, -1)
    else:
        found = norm_except_dim(v.transpose(0, dim), power, 0).transpose(0, dim)
    return found


def weight_of(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """g v / |v|, with the norm of each slice along `dim`."""
    return f.mul(v, g / norm_except_dim(v, 2, dim))
