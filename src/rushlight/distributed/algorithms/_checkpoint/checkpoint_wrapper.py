"""Modules whose intermediate values are computed again in backward instead of kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any

from ....autograd.graph import save_on_cpu
from ....nn.modules.module import Module
from ....utils.checkpoint import checkpoint

if TYPE_CHECKING:
    from ...._base.annotations import AnyCallable

__all__ = [
    "ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper",
    "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper",
]  # fmt: skip

_PREFIX = "_checkpoint_wrapped_module."


class CheckpointImpl(Enum):
    """The two ways in which `utils.checkpoint` works."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module):
    """A module around another that doesn't show in names of parameters or states."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_remove_prefix)
        self.register_load_state_dict_pre_hook(_add_prefix)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key: object) -> Any:
        return self._checkpoint_wrapped_module[key]  # type: ignore[index]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Names as the inner module has them, with its parameters."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), parameter


def _remove_prefix(
    module: Module, state: dict[str, object], prefix: str, *rest: object
) -> dict[str, object]:
    for name in [n for n in state if n.startswith(prefix + _PREFIX)]:
        state[prefix + name[len(prefix) + len(_PREFIX) :]] = state.pop(name)
    return state


def _add_prefix(module: Module, state: dict[str, object], prefix: str, *rest: object) -> None:
    for name in [n for n in state if n.startswith(prefix)]:
        inner = name[len(prefix) :]
        if not inner.startswith(_PREFIX):
            state[prefix + _PREFIX + inner] = state.pop(name)


class CheckpointWrapper(ActivationWrapper):
    """Runs the module by `utils.checkpoint`."""

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: AnyCallable | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn = checkpoint
            checkpoint_fn_kwargs["use_reentrant"] = checkpoint_impl is CheckpointImpl.REENTRANT
        self.checkpoint_fn: Callable[..., Any] = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the module gives."""
        inner = self._checkpoint_wrapped_module
        if self.checkpoint_impl is CheckpointImpl.REENTRANT and kwargs:
            names = tuple(kwargs)

            def call(*values: object) -> Any:
                given = values[: len(values) - len(names)]
                return inner(*given, **dict(zip(names, values[len(given) :])))

            return self.checkpoint_fn(call, *args, *kwargs.values())
        return self.checkpoint_fn(inner, *args, **kwargs)


class OffloadWrapper(ActivationWrapper):
    """Runs the module under `save_on_cpu`."""

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the module gives."""
        with save_on_cpu(pin_memory=False):
            return self._checkpoint_wrapped_module(*args, **kwargs)


def offload_wrapper(module: Module) -> Module:
    """The module in an `OffloadWrapper`."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., object] | None = None,
    **checkpoint_fn_kwargs: object,
) -> Module:
    """The module in a `CheckpointWrapper`."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[[Module, bool, int], bool] | None = None,
) -> None:
    """Puts the submodules for which `check_fn` says so into wrappers, the innermost first."""

    def choose(module: Module) -> bool:
        if auto_wrap_policy is None:
            return check_fn(module)
        return auto_wrap_policy(module, False, sum(p.numel() for p in module.parameters()))

    def walk(module: Module) -> None:
        for name, child in list(module.named_children()):
            if isinstance(child, ActivationWrapper):
                continue
            walk(child)
            if choose(child):
                setattr(module, name, checkpoint_wrapper_fn(child))

    walk(model)
