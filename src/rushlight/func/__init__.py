"""Function transforms: derivatives and batching of functions, which nest."""

from __future__ import annotations

from .._base.lazy import list_names as _listed
from . import custom_function
from .derivatives import grad, grad_and_value, jvp, vjp
from .functional_call import functional_call, stack_module_state
from .functionalize import functionalize
from .inspection import debug_unwrap
from .jacobians import hessian, jacfwd, jacrev
from .linearization import linearize
from .norms import replace_all_batch_norm_modules_
from .vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
_ = custom_function

__dir__ = _listed(globals())
