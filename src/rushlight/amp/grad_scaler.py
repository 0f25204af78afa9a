"""`GradScaler`: losses multiplied by a factor so that gradients of low precision don't vanish."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from math import inf
from typing import TYPE_CHECKING, Any, overload

from .._array import types as T
from .._array.numpy_namespace import isfinite
from .._base import dtypes as D
from .._base.device import device as _device
from .._core.slow import holds, read_by_python
from .._core.storage import TensorBase, new_tensor
from ..autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from .._base.annotations import Keywords, Positional
    from .._tensor.tensor import Tensor
    from ..optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has been done for an optimizer since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, object]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def update_scale(
    scale: Tensor, tracker: Tensor, found: bool, growth: float, backoff: float, interval: int
) -> None:
    """Lets a factor shrink where gradients weren't finite, or grow after `interval` good steps."""
    if found:
        scale.mul_(backoff)
        tracker.fill_(0)
    elif tracker.item() + 1 == interval:
        grown = scale * growth
        if holds(lambda x: (abs(x) < inf).all(), grown):
            scale.copy_(grown)
        tracker.fill_(0)
    else:
        tracker.fill_(tracker.item() + 1)


def _number(value: float, dtype: D.dtype) -> Any:
    return new_tensor(T.as_array(T.to_raw(dtype).type(value)))


class GradScaler:
    """Scales losses, takes the factor out of gradients, skips steps with infinite ones.

    The factor grows after `growth_interval` good steps and shrinks after a skipped one. Switched
    off, it does nothing: `scale(loss)` is the loss, `step(optimizer)` is `optimizer.step()`.

    Parameters:
        device: the kind of device: "cpu"; with "cuda" it warns and is switched off.
        init_scale: the factor at the start.
        growth_factor: what the factor is multiplied by when it grows; above 1.
        backoff_factor: what it is multiplied by after gradients that aren't finite; below 1.
        growth_interval: how many good steps make it grow.
        enabled: whether it does anything.
    Raises: AssertionError: for a growth of at most 1, or a backoff of at least 1.
    Example:
        >>> w = torch.ones(1, requires_grad=True)
        >>> sgd, scaler = optim.SGD([w], lr=0.1), torch.amp.GradScaler("cpu", init_scale=4.0)
        >>> scaler.scale(w.sum()).backward()
        >>> w.grad
        tensor([4.])
        >>> scaler.step(sgd)
        >>> scaler.update()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if self._device == "cuda" and enabled:
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                UserWarning,
                stacklevel=2 if type(self) is GradScaler else 3,
            )
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale: Any = None
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Any = None
            self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(
                _refresh_per_optimizer_state
            )

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."  # noqa: E501  # fmt: skip
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None.  {fix}")
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {funcname} but _growth_tracker is None.  {fix}")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev: object = None) -> None:
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = _number(self._init_scale, D.float32)
        self._growth_tracker = _number(self._init_growth_tracker, D.int32)

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: list[Tensor]) -> list[Tensor]: ...
    @overload
    def scale(self, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]: ...
    @overload
    def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...
    def scale(self, outputs: Any) -> Any:
        """A tensor, or an iterable of tensors, times the factor.

        Raises:
            ValueError: for anything else.
        """
        if not self._enabled:
            return outputs
        if self._scale is None and isinstance(outputs, TensorBase):
            self._lazy_init_scale_growth_tracker()
        if isinstance(outputs, TensorBase):
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = [self.scale(item) for item in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else iter(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[object, object]:
        """Multiplies all gradients by `inv_scale`; by device, 1.0 where one wasn't finite."""
        found = False
        any_grad = False
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if not isinstance(param, TensorBase):
                        raise AssertionError("param must be a torch.Tensor")
                    grad: Any = param.grad  # type: ignore[attr-defined]
                    if grad is None:
                        continue
                    if not allow_fp16 and grad.dtype is D.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    any_grad = True
                    found = found or not bool(isfinite(read_by_python(grad, "unscale_()")).all())
                    grad.mul_(inv_scale.to(grad.dtype) if grad.dtype is D.float64 else inv_scale)
        if not any_grad:
            return {}
        return {_device("cpu"): found_inf.fill_(1.0) if found else found_inf}

    def unscale_(self, optimizer: Optimizer) -> None:
        """Takes the factor out of the gradients of an optimizer's parameters, for clipping, say.

        Raises:
            RuntimeError: a second time before `update`, or after `step`.
        """
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._scale.double().reciprocal().float()
        state["found_inf_per_device"] = self._unscale_grads_(
            optimizer, inverse, _number(0.0, D.float32), False
        )
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer: Any, state: dict[str, Any], *args: object,
                        **kwargs: object) -> Tensor | float | None:  # fmt: skip
        if not sum(v.item() for v in state["found_inf_per_device"].values()):
            return optimizer.step(*args, **kwargs)
        return None

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Tensor | float | None:
        """`optimizer.step(...)` on unscaled gradients; nothing where one of them isn't finite.

        Raises:
            RuntimeError: with a closure, or a second time before `update`.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._own_step(optimizer, state, args, kwargs)
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _own_step(
        self, optimizer: Any, state: dict[str, Any], args: Positional, kwargs: Keywords
    ) -> Tensor | float | None:
        """The step of an optimizer that takes the factor out itself."""
        has_kwarg = "grad_scaler" in inspect.signature(optimizer.step).parameters
        if has_kwarg:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed "
                "optimizer. In the near future GradScaler registers `grad_scale: Tensor` and "
                "`found_inf: Tensor` to the passed optimizer and let the optimizer use them "
                "directly.",
                FutureWarning,
                stacklevel=3,
            )
            kwargs = {**kwargs, "grad_scaler": self}
        else:
            if state["stage"] is OptState.READY:
                self._check_inf_per_device(optimizer)
            found: Any = None
            for v in state["found_inf_per_device"].values():
                found = v if found is None else found + v
            optimizer.grad_scale = self._scale if state["stage"] is OptState.READY else None
            optimizer.found_inf = found
        result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        if not has_kwarg:
            del optimizer.grad_scale
            del optimizer.found_inf
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Lets the factor grow or shrink by what has happened since the last update, or sets it.

        Raises:
            AssertionError: where nothing has been scaled or checked.
        """
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            if isinstance(new_scale, float):
                scale.fill_(new_scale)
            else:
                reason = "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False."  # noqa: E501  # fmt: skip
                if new_scale.device.type != self._device or new_scale.numel() != 1:
                    raise AssertionError(reason)
                if new_scale.requires_grad:
                    raise AssertionError(reason)
                scale.copy_(new_scale)
        else:
            found = [v for state in self._per_optimizer_states.values()
                     for v in state["found_inf_per_device"].values()]  # fmt: skip
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            update_scale(
                scale, tracker, any(v.item() for v in found), self._growth_factor,
                self._backoff_factor, self._growth_interval,
            )  # fmt: skip
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _get_scale_async(self) -> object:
        return self._scale

    def get_scale(self) -> float:
        """The factor; 1.0 where scaling is switched off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """By what the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets by what the factor grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the factor shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets by what the factor shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many good steps make the factor grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets how many good steps make the factor grow."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def is_enabled(self) -> bool:
        """Whether it scales at all."""
        return self._enabled

    def state_dict(self) -> dict[str, float]:
        """What a checkpoint keeps of it; empty where it is switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` has given.

        Raises:
            RuntimeError: for an empty dictionary.
        """
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        if self._enabled:
            if len(self._per_optimizer_states) != 0:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, "
                    "or at the end after scaler.update()."
                )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = None
            state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer: Optimizer) -> object:
        one = _number(1.0, D.float32)
        found = self._unscale_grads_(optimizer, one, _number(0.0, D.float32), True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Optimizer) -> object:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
