"""Everything that `optim` takes from the layers below it, named once."""

from .. import _functions as f
from .._core.storage import bump
from ..autograd.grad_mode import enable_grad, set_grad_enabled
from ..nn._ground import typename
from ..nn._handle import RemovableHandle
from ..tensor import Tensor

__all__ = ["RemovableHandle", "Tensor", "bump", "enable_grad", "f", "set_grad_enabled", "typename"]
