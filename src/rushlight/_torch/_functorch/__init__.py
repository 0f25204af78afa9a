"""The transforms under the names of the modules that PyTorch keeps them in."""

from __future__ import annotations

from . import apis, autograd_function, eager_transforms, functional_call, vmap

__all__ = ["apis", "autograd_function", "eager_transforms", "functional_call", "vmap"]
