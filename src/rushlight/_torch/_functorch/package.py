"""What `functorch` has: the transforms under the name of the package that they once were.

Each works as the function of `torch.func` does and says that it has moved.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

from ... import func
from . import make_functional as _functional
from .make_functional import FunctionalModule, FunctionalModuleWithBuffers

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
    "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


def _move(function: Any, name: str, replacement: str) -> Any:
    """`function`, which warns that `functorch` is its old place."""

    @functools.wraps(function)
    def call_there(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
            f"version of PyTorch >= 2.3. Please use `{replacement}` instead; see the PyTorch 2.0 "
            "release notes and/or the `torch.func` migration guide for more details "
            "https://pytorch.org/docs/main/func.migrating.html",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return call_there


vmap = _move(func.vmap, "vmap", "torch.vmap")
grad = _move(func.grad, "grad", "torch.func.grad")
grad_and_value = _move(func.grad_and_value, "grad_and_value", "torch.func.grad_and_value")
vjp = _move(func.vjp, "vjp", "torch.func.vjp")
jvp = _move(func.jvp, "jvp", "torch.func.jvp")
jacrev = _move(func.jacrev, "jacrev", "torch.func.jacrev")
jacfwd = _move(func.jacfwd, "jacfwd", "torch.func.jacfwd")
hessian = _move(func.hessian, "hessian", "torch.func.hessian")
functionalize = _move(func.functionalize, "functionalize", "torch.func.functionalize")
make_functional = _move(
    _functional.make_functional, "make_functional", "torch.func.functional_call"
)
make_functional_with_buffers = _move(
    _functional.make_functional_with_buffers, "make_functional_with_buffers",
    "torch.func.functional_call",
)  # fmt: skip
combine_state_for_ensemble = _move(
    _functional.combine_state_for_ensemble, "combine_state_for_ensemble",
    "torch.func.stack_module_state",
)  # fmt: skip
