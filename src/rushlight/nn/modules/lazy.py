"""Lazy modules: layers that learn their input's size from the first input."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ..parameter import is_lazy

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Before `Module` among a class's bases: parameters get their shapes at the first call.

    Subclasses define `initialize_parameters(*args, **kwargs)`, called with the first input; after
    it the module becomes a `cls_to_become`, where that is given.
    """

    cls_to_become: Any = None
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        me: Any = self
        self._load_hook = me._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = me.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def _own(self) -> Any:
        return itertools.chain(self._parameters.values(), self._buffers.values())

    def _save_to_state_dict(
        self, destination: dict[str, object], prefix: str, keep_vars: bool
    ) -> None:
        """As `Module`'s; tensors without a shape go in as they are."""
        me: Any = self
        for name, tensor in me._own_tensors():
            if tensor is not None:
                lazy = is_lazy(tensor) or keep_vars
                destination[prefix + name] = tensor if lazy else tensor.detach()

    def _lazy_load_hook(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, object],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Gives tensors the shapes that a state dictionary has for them."""
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            key = prefix + name
            if key in state_dict and tensor is not None and is_lazy(tensor):
                given = state_dict[key]
                if not is_lazy(given):
                    tensor.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters their shapes, from the first input; subclasses define it."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {self.__class__.__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(tensor) for tensor in self._own())

    def _infer_parameters(
        self, module: Any, args: Sequence[object], kwargs: dict[str, object] | None = None
    ) -> None:
        """Runs before the first `forward`, and makes the module an ordinary one."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")  # type: ignore[attr-defined]
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook
        del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules"
        )
