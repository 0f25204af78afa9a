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
    """Every module.

    Parameters:
        *args: whatever a policy is asked with; so by name.
    Returns: True.
    Raises: nothing.
    Example:
        >>> dist.fsdp.wrap.always_wrap_policy(nn.ReLU(), recurse=False, nonwrapped_numel=0)
        True
    """
    return True


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]
) -> bool:
    """Modules for which a function says so.

    Parameters:
        module: the module that is asked about.
        recurse: whether it is asked if the walk goes into the module, as it always does.
        nonwrapped_numel: how many elements no part of it was taken for; nothing here.
        lambda_fn: the function, of a module.
    Returns: whether the walk goes on, or the module is taken.
    Raises: nothing of its own; what `lambda_fn` raises goes on.
    Example:
        >>> from functools import partial
        >>> policy = partial(
        ...     dist.fsdp.wrap.lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, nn.Linear)
        ... )
        >>> policy(module=nn.Linear(2, 1), recurse=False, nonwrapped_numel=3)
        True
    """
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    transformer_layer_cls: set[type[Module]],
) -> bool:
    """Modules of some classes.

    Parameters:
        module: the module that is asked about.
        recurse: whether it is asked if the walk goes into the module, as it always does.
        nonwrapped_numel: how many elements no part of it was taken for; nothing here.
        transformer_layer_cls: the classes.
    Returns: whether the walk goes on, or the module is taken.
    Raises: TypeError: for what are no classes.
    Example:
        >>> from functools import partial
        >>> policy = partial(
        ...     dist.fsdp.wrap.transformer_auto_wrap_policy,
        ...     transformer_layer_cls={nn.TransformerEncoderLayer},
        ... )
        >>> policy(module=nn.Linear(2, 1), recurse=False, nonwrapped_numel=3)
        False
    """
    return True if recurse else isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
    force_leaf_modules: set[type[Module]] | None = None,
    exclude_wrap_modules: set[type[Module]] | None = None,
) -> bool:
    """Modules with at least so many elements that no part of them was taken for.

    Parameters:
        module: the module that is asked about.
        recurse: whether it is asked if the walk goes into the module.
        nonwrapped_numel: how many of its elements no part of it was taken for.
        min_num_params: how many make a part.
        force_leaf_modules: classes that the walk doesn't go into; MultiheadAttention by default.
        exclude_wrap_modules: classes that are never taken; ModuleList and ModuleDict by default.
    Returns: whether the walk goes on, or the module is taken.
    Raises: TypeError: for what are no classes.
    Example:
        >>> from functools import partial
        >>> policy = partial(dist.fsdp.wrap.size_based_auto_wrap_policy, min_num_params=1000)
        >>> policy(module=nn.Linear(2, 1), recurse=False, nonwrapped_numel=3)
        False
    """
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
    """Modules of some classes, as an object.

    Parameters:
        module_classes: the classes.
    Raises: TypeError: for what can't be listed, and when asked, for what are no classes.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        >>> policy = dist.fsdp.wrap.ModuleWrapPolicy({nn.Linear})
        >>> made = dist.fsdp.FullyShardedDataParallel(model, auto_wrap_policy=policy)
        >>> [type(part).__name__ for part in model]
        ['FullyShardedDataParallel', 'ReLU']
    """

    def __init__(self, module_classes: Iterable[type[Module]]) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: object, **kwargs: object) -> bool:
        """Whether the module is taken; True for the walk into it."""
        return True if recurse else isinstance(module, tuple(self._module_classes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._module_classes})"


class CustomPolicy:
    """Modules for which a function says so, as an object.

    Parameters:
        lambda_fn: a function of a module: whether it is taken, or the options of its part, as a
            dictionary that goes before those of the whole.
    Raises: ValueError: when asked, for another answer of the function.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        >>> policy = dist.fsdp.wrap.CustomPolicy(lambda m: isinstance(m, nn.Linear))
        >>> made = dist.fsdp.FullyShardedDataParallel(model, auto_wrap_policy=policy)
        >>> [type(part).__name__ for part in model]
        ['FullyShardedDataParallel', 'ReLU']
    """

    def __init__(self, lambda_fn: Callable[[Module], bool | dict[str, Any]]) -> None:
        self._lambda_fn = lambda_fn

    def __call__(
        self, module: Module, recurse: bool, *args: object, **kwargs: object
    ) -> bool | dict[str, object]:
        """Whether the module is taken, or with which options; True for the walk into it.

        Raises:
            ValueError: for another answer of the function.
        """
        said = True if recurse else self._lambda_fn(module)
        if not isinstance(said, bool | dict):
            raise ValueError(
                "The lambda_fn passed to CustomPolicy should return False/True or a kwarg dict, "
                f"but it returned {said}"
            )
        return said


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: object, **wrapper_kwargs: object) -> Iterator[None]:
    """A context in which `wrap` puts modules into `wrapper_cls`.

    Parameters:
        wrapper_cls: the class, as FullyShardedDataParallel.
        **wrapper_kwargs: what it is given besides the module.
    Returns: the context; it gives None.
    Raises: nothing of its own; what is raised in the context goes on.
    Example:
        >>> with dist.fsdp.wrap.enable_wrap(wrapper_cls=nn.Sequential):
        ...     dist.fsdp.wrap.wrap(nn.ReLU())
        Sequential(
          (0): ReLU()
        )
    """
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
    """Puts a module into what `enable_wrap` named.

    Parameters:
        module: the module.
        **wrap_overrides: what the class is given besides, in the place of what `enable_wrap` said.
    Returns: the module in the class; outside of such a context the module itself.
    Raises: nothing of its own; what the class raises goes on.
    Example:
        >>> dist.fsdp.wrap.wrap(nn.ReLU())
        ReLU()
    """
    if _Chosen.kind is None:
        return module
    return _Chosen.kind(module, **{**_Chosen.options, **wrap_overrides})
