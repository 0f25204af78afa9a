"""Which modules are running: the names of those whose forward or backward is under way."""

from __future__ import annotations

import weakref
from typing import Any

from ..nn.modules.module import (
    Module,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context in which `parents` holds the names of the modules that run, "Global" among them."""

    def __init__(self) -> None:
        self.parents: set[str] = {"Global"}
        self._names: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()
        self._hooks: list[Any] = []

    def _get_mod_name(self, mod: Module) -> str:
        if mod not in self._names:
            self._names[mod] = type(mod).__name__
        name = self._names[mod]
        for key, child in mod.named_children():
            if child not in self._names:
                self._names[child] = f"{name}.{key}"
        return name

    @property
    def is_bw(self) -> bool:
        """Whether a backward is under way."""
        from .._core.run import RUNNING

        return RUNNING.get() is not None

    def __enter__(self) -> ModuleTracker:
        self._hooks = [
            register_module_forward_pre_hook(
                lambda module, args: self.parents.add(self._get_mod_name(module))
            ),
            register_module_forward_hook(
                lambda module, args, out: self.parents.discard(self._get_mod_name(module)),
                always_call=True,
            ),
        ]
        return self

    def __exit__(self, *exc: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
