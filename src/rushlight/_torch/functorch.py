"""`functorch`, as PyTorch installs it beside its own: names that load when they are asked for."""

from __future__ import annotations

from .._base.lazy import lazy, list_names

_NAMES = (
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
    "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "vjp", "vmap",
)  # fmt: skip
__all__ = list(_NAMES)

__path__: list[str] = []  # `functorch.experimental` lies below it; the finder of `torch` has it

__getattr__ = lazy(__name__, {name: f"_torch._functorch.package:{name}" for name in _NAMES})
__dir__ = list_names(globals())
