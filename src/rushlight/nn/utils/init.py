"""Modules without initial values."""

import inspect
from typing import Any

from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type[Module], *args: object, **kwargs: Any) -> Module:
    """A module whose parameters hold whatever the memory held.

    Raises: TypeError for something that is no class, RuntimeError for one that is no module class
    or takes no `device`.

    Parameters:
        module_cls: the class, which takes `device`.
        args: what it is made with; named arguments too.
    Returns: Module.
    Example:
        >>> nn.utils.skip_init(nn.Linear, 3, 2)
        Linear(in_features=3, out_features=2, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    made = module_cls(*args, **kwargs, device="meta")
    return made.to_empty(device=device)
