"""Spectral norm by a hook: the weight is computed before each call of the module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import functional as F
from .._ground import Tensor, f, linalg, no_grad
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from ..modules.module import Module


__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: sets `name` to `name_orig` divided by its largest singular value."""

    _version: int = 1
    name: str
    dim: int
    n_power_iterations: int
    eps: float

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but "
                f"got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix with the rows along `dim`."""
        if self.dim != 0:
            rest = (d for d in range(weight.dim()) if d != self.dim)
            weight = weight.permute(self.dim, *rest)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by the estimate of its norm, which an iteration improves in place."""
        weight: Tensor = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(f.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(f.mv(matrix, v), dim=0, eps=self.eps))
                # Copies: the buffers change in place while a graph may still need these values.
                u, v = u.clone(), v.clone()
        return weight / f.dot(u, f.mv(matrix, v))

    def remove(self, module: Module) -> None:
        """Makes the present weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for end in ("_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: object) -> None:
        weight = self.compute_weight(module, do_power_iteration=module.training)
        setattr(module, self.name, weight)

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Puts the hook in place.

        Raises: RuntimeError where the name has one already.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}"
                )
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make "
                "sure to run the dummy forward before applying spectral normalization"
            )
        with no_grad():
            matrix = made.reshape_weight_to_matrix(weight)
            h, w = matrix.size()
            u = F.normalize(weight.new_empty(h).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(w).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(SpectralNormStateDictHook(made))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(made))
        return made


class SpectralNormStateDictHook:
    """Writes the hook's version into the dictionary's metadata."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.fn = hook

    def __call__(
        self, module: Module, state: object, prefix: str, metadata: dict[str, Any]
    ) -> None:
        known = metadata.setdefault("spectral_norm", {})
        known[self.fn.name + ".version"] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Computes `name_v` where a dictionary of an older version lacks it."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.fn = hook

    def __call__(self, state: Any, prefix: str, metadata: dict[str, Any], *rest: object) -> None:
        hook = self.fn
        known = metadata.get("spectral_norm", {}).get(hook.name + ".version")
        key = prefix + hook.name
        if known is not None and known >= 1:
            return
        if key + "_v" in state or key not in state or key + "_orig" not in state:
            return
        with no_grad():
            original = state[key + "_orig"]
            weight = state.pop(key)
            sigma = (original / weight).mean()
            matrix = hook.reshape_weight_to_matrix(original)
            u = state[key + "_u"]
            v = linalg.multi_dot([matrix.t().mm(matrix).pinverse(), matrix.t(), u.unsqueeze(1)])
            v = v.squeeze(1)
            state[key + "_v"] = v.mul_(sigma / f.dot(u, f.mv(matrix, v)))


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by its largest singular value before each call; returns the module.

    Source: T. Miyato et al., Spectral normalization for GANs (2018).

    Parameters:
        module: the module; it is changed.
        name: which of its parameters.
        n_power_iterations: how many steps towards the singular value each call in training takes.
        eps: what lengths are at least, when they are divided by.
        dim: the dimension of the outputs; None: 1 for a transposed convolution, else 0.
    Returns: Module: the same one.
    Raises: ValueError: for no steps. KeyError: without such a parameter. RuntimeError: the second
        time.
    Example:
        >>> linear = nn.utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=50)
        >>> _ = linear(torch.ones(2))
        >>> torch.allclose(torch.linalg.matrix_norm(linear.weight, 2), torch.ones(()))
        True
    """
    if dim is None:
        transposed = isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
        dim = 1 if transposed else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a parameter again.

    Raises: ValueError where it is one.

    Parameters:
        module: what `spectral_norm` has changed.
        name: which of its parameters.
    Returns: Module: the same one.
    Example:
        >>> linear = nn.utils.spectral_norm(nn.Linear(2, 2))
        >>> nn.utils.remove_spectral_norm(linear)
        Linear(in_features=2, out_features=2, bias=True)
    """
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for table, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        for k, hook in table.items():
            inner = getattr(hook, "hook", hook)
            if isinstance(inner, kind) and inner.fn.name == name:
                del table[k]
                break
    return module
