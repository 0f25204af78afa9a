"""`autocast`: a context in which products are computed in a lower type."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from .._base import dtypes as D
from .._core.storage import TensorBase
from . import switches
from .switches import is_autocast_available

if TYPE_CHECKING:
    from types import TracebackType

    from .._base.annotations import AnyCallable


__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

_CPU_DTYPES: Final = (D.bfloat16, D.float16)


def autocast_decorator(autocast_instance: Any, func: Callable[..., object]) -> AnyCallable:
    """The function run inside the context."""

    @functools.wraps(func)
    def decorate_autocast(*args: object, **kwargs: object) -> object:
        with autocast_instance:
            return func(*args, **kwargs)

    # What `torch.jit.script` would say of it.
    decorate_autocast.__dict__["__script_unsupported"] = (
        "@autocast() decorator is not supported in script mode"
    )
    return decorate_autocast


class autocast:
    """A context, or a decorator, in which operations are computed in a type that fits them.

    Matrix products, convolutions and the like in a lower type; losses, transforms and the like in
    float32. Put the forward pass and the loss into it, not `backward`, which follows the types of
    the forward pass; weights stay in float32. What comes out of it may be of the lower type:
    convert it (`x.float()`) where other types meet it in a part with `enabled=False`.

    Raises:
        ValueError: for a device that is no string.
        RuntimeError: for a kind of device without autocast.

    Parameters:
        device_type: the kind of device that computes: "cpu".
        dtype: the lower type, `bfloat16` or `float16`; None: what `set_autocast_dtype` says.
        enabled: whether it does anything; False inside of another one switches that off.
        cache_enabled: whether a weight that is used twice is converted once; None: as it is set.
    Example:
        >>> x = torch.ones(2, 2)
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     (x @ x).dtype, x.softmax(0).dtype
        (torch.bfloat16, torch.float32)
    """

    def __init__(
        self,
        device_type: str,
        dtype: D.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = switches.get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.custom_backend_name = "privateuseone"
        self._cache_enabled = (
            switches.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        if device_type == "cuda" and enabled:
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        elif device_type == "cpu" and enabled and self.fast_dtype not in _CPU_DTYPES:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtypes of "
                f"{', '.join(str(d) for d in _CPU_DTYPES)} currently.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> Self:
        self.prev_cache_enabled = switches.is_autocast_cache_enabled()
        self.prev = switches.is_autocast_enabled(self.device)
        self.prev_fastdtype = switches.get_autocast_dtype(self.device)
        before = switches.snapshot()
        try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
            switches.set_autocast_enabled(self.device, self._enabled)
            switches.set_autocast_dtype(self.device, self.fast_dtype)
            switches.autocast_increment_nesting()
            switches.set_autocast_cache_enabled(self._cache_enabled)
        except BaseException:
            switches.restore(before)
            raise
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> Literal[False]:
        before: Any = None
        try:
            before = switches.snapshot()
            self._leave()
        except BaseException:
            if before is not None:
                switches.restore(before)
            self._leave()
            raise
        return False

    def _leave(self) -> None:
        if switches.autocast_decrement_nesting() == 0:
            switches.clear_autocast_cache()
        switches.set_autocast_enabled(self.device, self.prev)
        switches.set_autocast_dtype(self.device, self.prev_fastdtype)
        switches.set_autocast_cache_enabled(self.prev_cache_enabled)

    def __call__(self, func: Callable[..., object]) -> AnyCallable:
        return autocast_decorator(self, func)


def _enter_autocast(*vals: Any) -> autocast:
    """An autocast context that has been entered."""
    mode = autocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode: autocast) -> None:
    """Leaves it."""
    mode.__exit__(None, None, None)


def _cast(value: object, device_type: str, dtype: D.dtype) -> Any:
    """A value with its eligible tensors in `dtype`, also inside lists and dictionaries."""
    if isinstance(value, TensorBase):
        t: Any = value
        eligible = t.is_floating_point() and t.device.type == device_type and t.dtype != D.float64
        return t.to(dtype) if eligible else t
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype)
                for k, v in value.items()}  # fmt: skip
    if isinstance(value, (list, tuple)):
        parts = [_cast(v, device_type, dtype) for v in value]
        return type(value)(parts)
    return value


def custom_fwd(
    fwd: Callable[..., object] | None = None,
    *,
    device_type: str,
    cast_inputs: D.dtype | None = None,
) -> Callable[..., object]:
    """A decorator for `forward` of a custom function: it remembers whether autocast was on.

    With `cast_inputs`, under autocast the inputs get that type and the forward runs without it.

    Raises:
        ValueError: for a device that is no string.

    Parameters:
        fwd: the method; where there is none, a decorator is made.
        device_type: the kind of device whose autocast counts.
        cast_inputs: the type that floating inputs get; None: they stay as they are.
    Returns: the decorated method, or a decorator.
    Example:
        >>> class Product(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        ...     def forward(ctx, x, y):
        ...         return x @ y
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     Product.apply(torch.ones(1, 1), torch.ones(1, 1)).dtype
        torch.float32
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: object) -> Any:
        args[0]._dtype = switches.get_autocast_dtype(device_type)
        if cast_inputs is None:
            args[0]._fwd_used_autocast = switches.is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        context_on = switches.is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = False
        if not context_on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(
                *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs)
            )

    return decorate_fwd


def custom_bwd(
    bwd: Callable[..., object] | None = None, *, device_type: str
) -> Callable[..., object]:
    """A decorator for `backward` of a custom function: autocast as it was in its forward.

    Raises:
        ValueError: for a device that is no string.

    Parameters:
        bwd: the method; where there is none, a decorator is made.
        device_type: the kind of device whose autocast counts.
    Returns: the decorated method, or a decorator.
    Example:
        >>> class Twice(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu")
        ...     def forward(ctx, x):
        ...         return 2 * x
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, g):
        ...         return 2 * g
        >>> x = torch.ones(1, requires_grad=True)
        >>> Twice.apply(x).backward()
        >>> x.grad
        tensor([2.])
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: object) -> Any:
        with autocast(
            device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype
        ):
            return bwd(*args, **kwargs)

    return decorate_bwd
