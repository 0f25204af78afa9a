"""Weight norm by a hook: the weight is computed before each call of the module."""

import warnings

from .._ground import Tensor
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from ._norms import norm_except_dim, weight_of

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: sets `name` from `name_g`, the lengths, and `name_v`, the directions."""

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight of the module's lengths and directions."""
        g = getattr(module, self.name + "_g")
        return weight_of(getattr(module, self.name + "_v"), g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> "WeightNorm":
        """Puts the hook in place.

        Raises: RuntimeError where the name has one already.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    "Cannot register two weight_norm hooks on the same parameter " + name
                )
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure "
                "to run the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        lengths = norm_except_dim(weight, 2, made.dim)
        module.register_parameter(name + "_g", Parameter(lengths.data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Module) -> None:
        """Makes the present weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: object) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Splits a weight into lengths and directions of its slices; returns the module.

    Source: T. Salimans, D. Kingma, Weight normalization (2016).

    Parameters:
        module: the module; it is changed: `name` becomes `name_g` (lengths) and `name_v`
            (directions).
        name: which of its parameters.
        dim: the dimension of the slices; None: the whole weight has one length.
    Returns: Module: the same one.
    Raises: AttributeError: without such a parameter. RuntimeError: the second time.
    Example:
        >>> linear = nn.utils.weight_norm(nn.Linear(2, 3))
        >>> [name for name, _ in linear.named_parameters()], linear.weight_g.shape
        (['bias', 'weight_g', 'weight_v'], torch.Size([3, 1]))
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated "
        "in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a parameter again.

    Raises: ValueError where it is one.

    Parameters:
        module: what `weight_norm` has changed.
        name: which of its parameters.
    Returns: Module: the same one.
    Example:
        >>> linear = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(2, 3)))
        >>> [name for name, _ in linear.named_parameters()]
        ['bias', 'weight']
    """
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
