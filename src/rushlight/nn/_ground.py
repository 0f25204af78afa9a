"""Everything that `nn` takes from the layers below it, named once.

Other files of `nn` import these names from here, so a move below is one edit. `f` is the module of
free functions (`f.empty`, `f.zeros`, `f.full`, `f.qr` …), with PyTorch's names and signatures.
"""

from .. import _functions as f
from .. import dtypes, linalg
from ..autograd.function import Function
from ..autograd.grad_mode import is_grad_enabled, no_grad, set_grad_enabled
from ..random import Generator
from ..tensor import Tensor

__all__ = [
    "Function",
    "Generator",
    "Tensor",
    "dtypes",
    "f",
    "is_grad_enabled",
    "linalg",
    "no_grad",
    "set_grad_enabled",
    "typename",
]


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
