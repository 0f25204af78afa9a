"""Which submodules are taken apart from the rest: functions that a walk over modules asks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...nn.modules.container import ModuleDict, ModuleList
from ...nn.modules.module import Module

__all__ = [
    "CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap",
    "lambda_auto_wrap_policy", "size_based_auto_wrap_policy", "transformer_auto_wrap_policy",
    "wrap",
]  # fmt: skip


def always_wrap_policy(*args: object, **kwargs: object) -> bool:
    """True: every module."""
    return True


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]
) -> bool:
    """Modules for which a function says so."""
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    transformer_layer_cls: set[type[Module]],
) -> bool:
    """Modules of some classes."""
    return True if recurse else isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
    force_leaf_modules: set[type[Module]] | None = None,
    exclude_wrap_modules: set[type[Module]] | None = None,
) -> bool:
    """Modules with at least so many elements that no part of them was taken for."""
    leaves = tuple({_attention()} if force_leaf_modules is None else force_leaf_modules)
    never = tuple(
        {ModuleList, ModuleDict} if exclude_wrap_modules is None else exclude_wrap_modules
    )
    large = nonwrapped_numel >= min_num_params
    if recurse:
        return large and not isinstance(module, leaves)
    return large and not isinstance(module, never)


def _attention() -> type[Module]:
    from ...nn import MultiheadAttention

    return MultiheadAttention


def _or_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, policies: Iterable[Callable[..., bool]]
) -> bool:
    """What any of several policies says."""
    return any(
        policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        for policy in policies
    )


class ModuleWrapPolicy:
    """Modules of some classes, as an object."""

    def __init__(self, module_classes: Iterable[type[Module]]) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: object, **kwargs: object) -> bool:
        """Whether the module is taken; True for the walk into it."""
        return True if recurse else isinstance(module, tuple(self._module_classes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._module_classes})"


class CustomPolicy:
    """Modules for which a function says so, as an object."""

    def __init__(self, lambda_fn: Callable[[Module], bool | dict[str, Any]]) -> None:
        self._lambda_fn = lambda_fn


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: object, **wrapper_kwargs: object) -> Iterator[None]:
    """A context in which `wrap` puts modules into `wrapper_cls`."""
    before = (_Chosen.kind, _Chosen.options)
    _Chosen.kind, _Chosen.options = wrapper_cls, wrapper_kwargs
    try:
        yield
    finally:
        _Chosen.kind, _Chosen.options = before


class _Chosen:
    kind: Any = None
    options: dict[str, Any] = {}


def wrap(module: Module, **wrap_overrides: object) -> Module:
    """The module in what `enable_wrap` named; outside of it the module itself."""
    if _Chosen.kind is None:
        return module
    return _Chosen.kind(module, **{**_Chosen.options, **wrap_overrides})
