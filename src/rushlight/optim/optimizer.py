"""`Optimizer`: parameter groups, their state, and what every optimizer does with them."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .._core.mode import current
from ._ground import RemovableHandle, Tensor, enable_grad, set_grad_enabled, typename
from ._own import (
    ParamsT as ParamsT,
    _default_to_fused_or_foreach as _default_to_fused_or_foreach,
    _get_value as _get_value,
    _stack_if_compiling as _stack_if_compiling,
    _to_scalar as _to_scalar,
    _use_grad_for_differentiable as _use_grad_for_differentiable,
    _view_as_real as _view_as_real,
)

if TYPE_CHECKING:
    from .annotations import OptimizerState, StateDict


__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

_Hook = Callable[..., Any]
_Group = dict[str, Any]
_global_optimizer_pre_hooks: OrderedDict[int, _Hook] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, _Hook] = OrderedDict()


class _RequiredParameter:
    """The default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def register_optimizer_step_pre_hook(hook: _Hook) -> RemovableHandle:
    """Runs `hook(optimizer, args, kwargs)` before every optimizer's step; keep the handle."""
    return _insert(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: _Hook) -> RemovableHandle:
    """Runs `hook(optimizer, args, kwargs)` after every optimizer's step; keep the handle."""
    return _insert(_global_optimizer_post_hooks, hook)


def _insert(table: OrderedDict[int, _Hook], hook: _Hook, first: bool = False) -> RemovableHandle:
    handle = RemovableHandle(table)
    table[handle.id] = hook
    if first:
        table.move_to_end(handle.id, last=False)
    return handle


_NO_HOOKS: Any = MappingProxyType({})


def _with_hooks(step: Callable[..., Tensor | float | None]) -> Callable[..., Tensor | float | None]:
    """`step` with the step hooks around it; nothing but a check where there are none."""

    @functools.wraps(step)
    def step_with_hooks(self: Optimizer, *args: object, **kwargs: object) -> Tensor | float | None:
        mode = current()
        if mode.recorder is not None:
            return mode.recorder.optimizer_step(self, step_with_hooks, args, kwargs)
        profiler = mode.profiler
        if profiler is not None and profiler.opens(f"Optimizer.step#{type(self).__name__}.step"):
            try:
                return step_with_hooks(self, *args, **kwargs)
            finally:
                profiler.closes()
        if not (
            self._optimizer_step_pre_hooks
            or self._optimizer_step_post_hooks
            or _global_optimizer_pre_hooks
            or _global_optimizer_post_hooks
        ):
            return step(self, *args, **kwargs)
        everything: tuple[Any, ...] = (self, *args)
        for hook in (
            *_global_optimizer_pre_hooks.values(),
            *self._optimizer_step_pre_hooks.values(),
        ):
            answer = hook(self, everything, kwargs)
            if answer is not None:
                if not (isinstance(answer, tuple) and len(answer) == 2):
                    raise RuntimeError(
                        f"<function {type(self).__name__}.step at {id(step):#x}> must return "
                        f"None or a tuple of (new_args, new_kwargs), but got {answer}."
                    )
                everything, kwargs = answer
        out = step(*everything, **kwargs)
        for hook in (
            *self._optimizer_step_post_hooks.values(),
            *_global_optimizer_post_hooks.values(),
        ):
            hook(self, everything, kwargs)
        return out

    step_with_hooks.hooked = True  # type: ignore[attr-defined]
    return step_with_hooks


class Optimizer:
    """Parameters in groups, each group with its options, each parameter with its state.

    `params`: tensors, `(name, tensor)` pairs, or dictionaries with "params" and own options;
    `defaults`: the options of groups that don't say. Subclasses define `step`.

    Raises: TypeError or ValueError for anything that can't be optimized.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hook_tables()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {typename(params)}"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[_Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist: Any, with_indices: bool = False
    ) -> dict[Any, Any]:
        """Parallel lists by device and type, which optimizers of packages step through."""
        from ..utils._foreach_utils import _group_tensors_by_device_and_dtype

        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if callable(step) and not getattr(step, "hooked", False):
            cls.step = _with_hooks(step)  # type: ignore[method-assign]

    def _make_hook_tables(self) -> None:
        for name in (
            "_optimizer_step_pre_hooks",
            "_optimizer_step_post_hooks",
            "_optimizer_state_dict_pre_hooks",
            "_optimizer_state_dict_post_hooks",
            "_optimizer_load_state_dict_pre_hooks",
            "_optimizer_load_state_dict_post_hooks",
        ):
            if name not in self.__dict__:
                setattr(self, name, OrderedDict())

    def _patch_step_function(self) -> None:
        """Does nothing: every class's `step` runs hooks from the start."""

    # A wrapper around an optimizer may do without `__init__`: it has no hooks, and can get none.
    _optimizer_step_pre_hooks: OrderedDict[int, _Hook] = _NO_HOOKS
    _optimizer_step_post_hooks: OrderedDict[int, _Hook] = _NO_HOOKS
    _optimizer_state_dict_pre_hooks: OrderedDict[int, _Hook]
    _optimizer_state_dict_post_hooks: OrderedDict[int, _Hook]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, _Hook]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, _Hook]

    def __getstate__(self) -> dict[str, object]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: OptimizerState) -> None:
        self.__dict__.update(state)
        self._make_hook_tables()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for place, group in enumerate(self.param_groups):
            text += f"\nParameter Group {place}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    # -- groups ---------------------------------------------------------------------------------

    def add_param_group(self, param_group: _Group) -> None:
        """Adds a group: "params", and options where they differ from the defaults.

        Raises: TypeError, for a group that is no dictionary or tensors in a set; ValueError, for
        tensors with a history, in two groups, or partly named.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            param_group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but "
                "the ordering of tensors in sets will change between runs. Please use a list "
                "instead."
            )
        else:
            param_group["params"] = list(params)
        _split_names(param_group)
        for parameter in param_group["params"]:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{typename(parameter)}"
                )
            if not self.defaults.get("differentiable", None) and not (
                parameter.is_leaf or parameter.retains_grad
            ):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
            param_group.setdefault(name, default)
        params = param_group["params"]
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        taken: set[Any] = set()
        for group in self.param_groups:
            taken.update(group["params"])
            if ("param_names" in param_group) != ("param_names" in group):
                without = "without" if "param_names" in group else "with"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {without} names to the optimizer"
                )
        if not taken.isdisjoint(param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients of every parameter, by dropping them or by filling with zeros."""
        profiler = current().profiler
        name = type(self).__name__
        if profiler is not None and profiler.opens(f"Optimizer.zero_grad#{name}.zero_grad"):
            try:
                self.zero_grad(set_to_none)
            finally:
                profiler.closes()
            return
        for group in self.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                else:
                    if grad.grad_fn is not None:
                        grad.detach_()
                    else:
                        grad.requires_grad_(False)
                    grad.zero_()

    def step(self, closure: Callable[[], Tensor | float] | None = None) -> Tensor | float | None:
        """Updates every parameter that has a gradient; returns what `closure` returned.

        `closure`, where given, evaluates the model anew: it clears the gradients, computes the
        loss, calls backward, and returns the loss.
        """
        raise NotImplementedError

    # -- hooks ----------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook(optimizer, args, kwargs)` before each step; it may return both anew."""
        return _insert(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook(optimizer, args, kwargs)` after each step."""
        return _insert(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Runs `hook(optimizer)` before `state_dict`."""
        return _insert(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Runs `hook(optimizer, state_dict)` after `state_dict`; it may return another one."""
        return _insert(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: _Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Runs `hook(optimizer, state_dict)` before loading; it may return another one."""
        return _insert(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: _Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Runs `hook(optimizer)` after loading."""
        return _insert(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # -- state ----------------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """State and options as plain dictionaries, with numbers in place of the parameters.

        Parameters are numbered in the order of the groups. The state's tensors are shared.
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        numbers: dict[int, int] = {}
        groups = []
        count = 0
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            numbers |= {  # the first group that has it; there the last place
                id(parameter): place
                for place, parameter in enumerate(group["params"], count)
                if id(parameter) not in numbers
            }
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            count += len(packed["params"])
            groups.append(packed)
        state = {
            (numbers[id(key)] if isinstance(key, Tensor) else key): value
            for key, value in self.state.items()
        }
        made: dict[str, Any] = {"state": state, "param_groups": groups}
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            answer = post_hook(self, made)
            if answer is not None:
                made = answer
        return made

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Takes state and options from a `state_dict`; parameters are matched by their number.

        Raises: ValueError, where groups or their sizes differ.
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            answer = pre_hook(self, state_dict)
            if answer is not None:
                state_dict = answer
        groups = self.param_groups
        saved = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(old["params"]) != len(new["params"]) for old, new in zip(groups, saved, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        parameters = dict(
            zip(
                chain.from_iterable(group["params"] for group in saved),
                chain.from_iterable(group["params"] for group in groups),
                strict=True,
            )
        )
        options = {number: group for group in saved for number in group["params"]}
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in parameters:
                state[parameters[key]] = _fit(parameters[key], value, options[key])
            else:
                state[key] = value
        merged = []
        for old, new in zip(groups, saved, strict=True):
            new["params"] = old["params"]
            if "param_names" in old and "param_names" not in new:
                new["param_names"] = old["param_names"]
            merged.append(new)
        self.__setstate__({"state": state, "param_groups": merged})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)


def _split_names(group: _Group) -> None:
    """Turns a group's `(name, tensor)` pairs into two lists.

    Raises: ValueError, where only some have names.
    """
    named = [isinstance(entry, tuple) for entry in group["params"]]
    if not any(named):
        return
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    pairs = group["params"]
    group["params"] = [pair[1] for pair in pairs]
    group["param_names"] = [pair[0] for pair in pairs]


def _fit(parameter: Tensor, value: object, group: _Group, key: Hashable = None) -> object:
    """Loaded state in the parameter's dtype; step counts keep theirs."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        if parameter.is_floating_point():
            return value.to(dtype=parameter.dtype, device=parameter.device)
        return value.to(device=parameter.device)
    if isinstance(value, dict):
        return {k: _fit(parameter, v, group, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        kind: Any = type(value)
        return kind(_fit(parameter, v, group) for v in value)
    return value


def loss_of(closure: Callable[[], Tensor | float] | None) -> Tensor | float | None:
    """What the closure returns, run with gradients recorded; None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def recording(group: _Group) -> Any:
    """The mode in which a group's generic update runs: recorded only if it's differentiable."""
    return set_grad_enabled(bool(group.get("differentiable")))


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The kinds of devices whose steps can be captured in a graph; packages ask for them."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def check_implementation(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Refuses the combinations of implementations that PyTorch refuses."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_not_capturable(group: _Group, what: str, last: str = ", 'xla'") -> None:
    """`capturable` is for accelerators: PyTorch refuses it for parameters on the CPU.

    Raises: AssertionError, in PyTorch's words.
    """
    # The fused kernels never look at it.
    if group["capturable"] and not group.get("fused"):
        raise AssertionError(
            f"If capturable=True, {what} must be on supported devices: "
            f"['cuda', 'xpu', 'hpu', 'privateuseone'{last}]."
        )


def check_fused(params: Iterable[Tensor]) -> None:
    """Refuses for `fused` what PyTorch's fused kernels refuse.

    Raises: RuntimeError, for parameters that aren't real floating-point ones.
    """
    for p in params:
        if not p.is_floating_point():
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors of supported "
                "devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but "
                f"{p.dtype} and {p.device.type}"
            )


def check_lr(lr: Tensor | float) -> None:
    """Refuses a tensor that isn't one number, and a rate below zero."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_at_least_zero(name: str, value: float) -> None:
    """Refuses an option below zero, and nan."""
    if not 0.0 <= value:
        raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas: Sequence[Any]) -> None:
    """Refuses rates of moving averages outside of [0, 1)."""
    for place in (0, 1):
        if not 0.0 <= betas[place] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {betas[place]}")


def flat(value: Tensor | float) -> Tensor | float:
    """An option as an operand: a tensor of one element loses its dimensions, as in PyTorch."""
    return value.squeeze() if isinstance(value, Tensor) and value.ndim else value


def scalar(value: Tensor | float) -> float:
    """A number that keeps a tensor's precision in what is computed from it, as in PyTorch."""
    return value._raw.reshape(-1)[0] if isinstance(value, Tensor) else value


def number(value: Tensor | float) -> float:
    """A Python number from a number or a one-element tensor."""
    return value.item() if isinstance(value, Tensor) else value
