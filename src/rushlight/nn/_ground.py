"""Everything that `nn` takes from the layers below it, named once.

Other files of `nn` import these names from here, so a move below is one edit. `f` is the package
itself, as users see it (`f.empty`, `f.zeros_like` …): a program that replaces `torch.empty` reaches
the layers, as in PyTorch, which looks such names up when it runs. `linalg` holds the table's own.
"""

import sys
from typing import TYPE_CHECKING, Any

from .._base import dtypes
from .._base.device import device
from .._base.handles import RemovableHandle
from .._base.memory_format import preserve_format
from .._tensor.public_functions import own_namespace
from .._tensor.tensor import Tensor
from ..autograd.function import Function
from ..autograd.grad_mode import is_grad_enabled, no_grad
from ..random import Generator

__all__ = [
    "Function",
    "Generator",
    "RemovableHandle",
    "Tensor",
    "device",
    "dtypes",
    "f",
    "is_grad_enabled",
    "linalg",
    "no_grad",
    "preserve_format",
    "typename",
]


if TYPE_CHECKING:
    from collections.abc import Callable

    import rushlight as f

    class _Linalg:
        """Those functions of linear algebra that the package calls and that give one tensor."""

        cholesky: Callable[..., Tensor]
        eigvalsh: Callable[..., Tensor]
        matrix_norm: Callable[..., Tensor]
        multi_dot: Callable[..., Tensor]
        norm: Callable[..., Tensor]
        solve_triangular: Callable[..., Tensor]
        vector_norm: Callable[..., Tensor]

        def __getattr__(self, name: str) -> Any: ...

    linalg: _Linalg
else:
    f = sys.modules[__name__.partition(".")[0]]
    linalg = own_namespace("linalg").module("rushlight's linalg")


def typename(value: object) -> str:
    """The name by which error messages call the kind of `value`.

    A tensor is called by its dtype (`torch.FloatTensor`), anything else by module and class, with
    the module left out for built-in classes.
    """
    if isinstance(value, Tensor):
        return str(value.type())
    kind = value if hasattr(value, "__qualname__") and hasattr(value, "__module__") else type(value)
    module = getattr(kind, "__module__", None) or ""
    name = str(getattr(kind, "__qualname__", kind.__class__.__name__))
    return name if module in ("", "builtins", "__builtin__") else f"{module}.{name}"
