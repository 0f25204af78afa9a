"""`torch.nn.utils._named_member_accessor`: parts of a module, by their dotted names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..modules.module import Module


__all__ = ["swap_tensor"]

_MISSING: Any = object()


def swap_tensor(module: Module, name: str, tensor: Tensor, allow_missing: bool = False) -> Tensor:
    """Puts `tensor` in the place of a parameter, buffer or attribute; gives what stood there.

    Raises:
        TypeError: where either is no tensor, or `module` no module.
        KeyError: for a name with dots, or none.
        AttributeError: where the module has no such tensor.
    """
    from ..modules.module import Module

    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if tensor is not _MISSING and not isinstance(tensor, TensorBase) and tensor is not None:
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    tables: list[Any] = [module._parameters, module._buffers]
    for table in tables:
        if name in table:
            old = table[name]
            if tensor is _MISSING:
                del table[name]
            else:
                table[name] = tensor
            return old
    old = getattr(module, name, _MISSING)
    if old is _MISSING:
        if not allow_missing:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    elif not isinstance(old, TensorBase):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif hasattr(module, name):
        delattr(module, name)
    return old
