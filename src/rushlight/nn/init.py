"""Initial values for parameters, drawn in place; the same numbers as PyTorch from the same seed.

Every function fills its tensor without recording, and returns it.
"""

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import ParamSpec, cast

from .._array.linalg import factorizations as factor
from .._base.lazy import list_names as _listed
from .._core.mode import ALERTED, is_interposed
from .._tensor.torch_function import ask_about_one, is_asked_about
from ._ground import Generator, Tensor, dtypes, f, no_grad

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
    "constant",
    "dirac",
    "eye",
    "kaiming_normal",
    "kaiming_uniform",
    "normal",
    "orthogonal",
    "sparse",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
]

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before `nonlinearity` grow so that variance is kept.

    `param` is the negative slope of "leaky_relu" (0.01 if not given).

    Raises: ValueError, for a nonlinearity that isn't known or a slope that is no number.

    Parameters:
        nonlinearity: a function's name: "linear", "relu", "leaky_relu", "tanh", "selu", "conv2d", …
        param: the slope below zero of "leaky_relu".
    Returns: the factor that keeps the variance through that function.
    Example:
        >>> nn.init.calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


_P = ParamSpec("_P")


def _telling(function: Callable[_P, Tensor]) -> Callable[_P, Tensor]:
    """A function that asks modes and the class of its tensor first, with all arguments by name."""

    @functools.wraps(function)
    def asking(*args: _P.args, **kwargs: _P.kwargs) -> Tensor:
        if ALERTED and is_interposed():
            tensor = args[0] if args else kwargs.get("tensor")
            if is_asked_about(tensor):
                bound = inspect.signature(function).bind(*args, **kwargs)
                bound.apply_defaults()
                answer = ask_about_one(asking, tensor, (type(tensor),), (), bound.arguments)
                return cast("Tensor", answer)
        return function(*args, **kwargs)

    return asking


@_telling
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform between `a` and `b`.

    Parameters:
        tensor: the tensor that is filled.
        a: the lower end.
        b: the upper end.
        generator: the random numbers; the default generator's where None.
    Shapes: any.
    Returns: the tensor.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> nn.init.uniform_(torch.empty(3), 1.0, 2.0).min() >= 1
        tensor(True)
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


_no_grad_uniform_ = uniform_


@_telling
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal with this mean and standard deviation.

    Parameters:
        tensor: the tensor that is filled.
        mean: the mean.
        std: the standard deviation.
        generator: the random numbers; the default generator's where None.
    Shapes: any.
    Returns: the tensor.
    Raises:
        RuntimeError: for a negative standard deviation.
    Example:
        >>> nn.init.normal_(torch.empty(2), 5.0, 0.0)
        tensor([5., 5.])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal with this mean and standard deviation, cut off outside of `a` … `b`.

    Source: rejection; from the normal itself where it accepts at least 3 of 10 draws, else from
    the uniform between the bounds with acceptance exp((n² - z²)/2), n the bound nearest the mean
    (Robert 1995, Simulation of truncated normal variables, section 2.2).

    Parameters:
        tensor: the tensor that is filled.
        mean: the mean before cutting.
        std: the standard deviation before cutting.
        a: the lower end.
        b: the upper end.
        generator: the random numbers; the default generator's where None.
    Shapes: any.
    Returns: the tensor.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> nn.init.trunc_normal_(torch.empty(9), std=5.0).abs().max() <= 2
        tensor(True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    with no_grad():
        if _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std) >= 0.3:
            tensor.normal_(mean, std, generator=generator)
            outside = (tensor < a) | (tensor > b)
            while outside.any():
                # A whole new draw each time: that is what fixes the numbers of a seed.
                redrawn = f.empty_like(tensor).normal_(mean, std, generator=generator)
                tensor.copy_(f.where(outside, redrawn, tensor))
                outside = (tensor < a) | (tensor > b)
            return tensor
        low, high = (a - mean) / std, (b - mean) / std
        nearest = min(max(0.0, low), high)
        outside = f.ones_like(tensor, dtype=dtypes.bool_)
        while outside.any():
            drawn = f.empty_like(tensor).uniform_(a, b, generator=generator)
            z = (drawn - mean) / std
            chance = ((nearest * nearest - z * z) / 2).exp()
            kept = f.empty_like(tensor).uniform_(generator=generator) <= chance
            tensor.copy_(f.where(outside & kept, drawn, tensor))
            outside = outside & ~kept
        return tensor


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@_telling
def constant_(tensor: Tensor, val: float) -> Tensor:
    """`val` everywhere.

    Parameters:
        tensor: the tensor that is filled.
        val: the number.
    Shapes: any.
    Returns: the tensor.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> nn.init.constant_(torch.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """One everywhere.

    Parameters:
        tensor: the tensor that is filled.
    Shapes: any.
    Returns: the tensor.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> nn.init.ones_(torch.empty(2))
        tensor([1., 1.])
    """
    with no_grad():
        return tensor.fill_(1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zero everywhere.

    Parameters:
        tensor: the tensor that is filled.
    Shapes: any.
    Returns: the tensor.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix. Raises: ValueError, unless there are 2 dimensions.

    Parameters:
        tensor: the tensor that is filled.
    Shapes: two dimensions.
    Returns: the tensor.
    Raises:
        ValueError: for what is no matrix.
    Example:
        >>> nn.init.eye_(torch.empty(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(f.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution weight that passes its input through, in each of `groups` groups.

    Raises: ValueError, unless there are 3 to 5 dimensions, the first divisible by `groups`.

    Parameters:
        tensor: the tensor that is filled.
        groups: how many groups of channels.
    Shapes: (out channels, in channels, one to three sizes).
    Returns: the tensor.
    Example:
        >>> nn.init.dirac_(torch.empty(1, 1, 3))
        tensor([[[0., 1., 0.]]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels, in_channels, *places = tensor.shape
    if out_channels % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = out_channels // groups
    centre = tuple(extent // 2 for extent in places)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, in_channels)):
                tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs feed an output of this weight, and how many outputs an input feeds."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    fan_out, fan_in, *places = tensor.shape
    field = math.prod(places)
    return fan_in * field, fan_out * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform, with variance 2·gain²/(fan_in + fan_out) (Glorot and Bengio 2010).

    Parameters:
        tensor: the tensor that is filled.
        gain: by what the spread is multiplied; see `calculate_gain`.
        generator: the random numbers; the default generator's where None.
    Shapes: any; two dimensions or more.
    Returns: the tensor.
    Raises:
        ValueError: for a tensor of fewer than two dimensions.
    Example:
        >>> nn.init.xavier_uniform_(torch.empty(2, 3)).shape
        torch.Size([2, 3])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, with variance 2·gain²/(fan_in + fan_out) (Glorot and Bengio 2010).

    Parameters:
        tensor: the tensor that is filled.
        gain: by what the spread is multiplied; see `calculate_gain`.
        generator: the random numbers; the default generator's where None.
    Shapes: any; two dimensions or more.
    Returns: the tensor.
    Raises:
        ValueError: for a tensor of fewer than two dimensions.
    Example:
        >>> nn.init.xavier_normal_(torch.empty(2, 3)).shape
        torch.Size([2, 3])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation; None, with a warning, for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


@_telling
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform, with variance gain²/fan (He et al. 2015); `a` is the slope of leaky ReLU.

    Parameters:
        tensor: the tensor that is filled.
        a: the slope below zero of a leaky ReLU that follows.
        mode: "fan_in" keeps the variance forward, "fan_out" backward.
        nonlinearity: the function that follows; see `calculate_gain`.
        generator: the random numbers; the default generator's where None.
    Shapes: any; two dimensions or more.
    Returns: the tensor.
    Raises:
        ValueError: for a tensor of fewer than two dimensions.
    Example:
        >>> nn.init.kaiming_uniform_(torch.empty(2, 3)).shape
        torch.Size([2, 3])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, with variance gain²/fan (He et al. 2015); `a` is the slope of leaky ReLU.

    Parameters:
        tensor: the tensor that is filled.
        a: the slope below zero of a leaky ReLU that follows.
        mode: "fan_in" keeps the variance forward, "fan_out" backward.
        nonlinearity: the function that follows; see `calculate_gain`.
        generator: the random numbers; the default generator's where None.
    Shapes: any; two dimensions or more.
    Returns: the tensor.
    Raises:
        ValueError: for a tensor of fewer than two dimensions.
    Example:
        >>> nn.init.kaiming_normal_(torch.empty(2, 3)).shape
        torch.Size([2, 3])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Orthogonal rows (or columns, whichever are fewer), times `gain` (Saxe et al. 2013).

    Raises: ValueError, for fewer than 2 dimensions.

    Parameters:
        tensor: the tensor that is filled.
        gain: by what the matrix is multiplied.
        generator: the random numbers; the default generator's where None.
    Shapes: any; two dimensions or more.
    Returns: the tensor.
    Example:
        >>> w = nn.init.orthogonal_(torch.empty(2, 2))
        >>> torch.allclose(w @ w.T, torch.eye(2), atol=1e-5)
        True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    with no_grad():
        drawn = f.empty((rows, columns), dtype=tensor.dtype, device=tensor.device)
        drawn.normal_(0, 1, generator=generator)
        matrix = drawn.t() if rows < columns else drawn
        q, r = (f.from_numpy(part) for part in factor.qr(matrix._raw))
        # With R's diagonal positive the decomposition is unique, so q is uniformly distributed.
        q = q * f.diagonal(r, 0).sign()
        tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal, with the fraction `sparsity` of each column set to zero (Martens 2010).

    Raises: ValueError, unless there are 2 dimensions.

    Parameters:
        tensor: the tensor that is filled.
        sparsity: which part of each column is zero.
        std: the standard deviation of the others.
        generator: the random numbers; the default generator's where None.
    Shapes: two dimensions.
    Returns: the tensor.
    Example:
        >>> (nn.init.sparse_(torch.empty(4, 2), 0.5) == 0).sum(0)
        tensor([2, 2])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            # The global stream even where a generator is given: PyTorch 2.13 does so.
            tensor[f.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecate(new: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`new` under its old name, without the underscore, which warns."""
    old = new.__name__.rstrip("_")

    @functools.wraps(new)
    def call_new(*args: object, **kwargs: object) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return new(*args, **kwargs)

    call_new.__name__ = old
    return call_new


uniform = _deprecate(uniform_)
normal = _deprecate(normal_)
constant = _deprecate(constant_)
eye = _deprecate(eye_)
dirac = _deprecate(dirac_)
xavier_uniform = _deprecate(xavier_uniform_)
xavier_normal = _deprecate(xavier_normal_)
kaiming_uniform = _deprecate(kaiming_uniform_)
kaiming_normal = _deprecate(kaiming_normal_)
orthogonal = _deprecate(orthogonal_)
sparse = _deprecate(sparse_)

__dir__ = _listed(globals())
