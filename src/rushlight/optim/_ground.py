"""Everything that `optim` takes from the layers below it, named once."""

from .._base import dtypes
from .._base.handles import RemovableHandle
from .._base.numeric_limits import finfo
from .._core.storage import bump
from .._formula import words
from .._tensor.tensor import Tensor
from ..autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from ..nn._ground import f, typename

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
    "words",
]
