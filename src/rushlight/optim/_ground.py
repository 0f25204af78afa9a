"""Everything that `optim` takes from the layers below it, named once."""

from .. import dtypes
from .._core.storage import bump
from ..autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from ..handles import RemovableHandle
from ..limits import finfo
from ..nn._ground import f, typename
from ..tensor import Tensor

__all__ = [
    "RemovableHandle",
    "Tensor",
    "bump",
    "dtypes",
    "enable_grad",
    "f",
    "finfo",
    "no_grad",
    "set_grad_enabled",
    "typename",
]
