"""`torch.utils.deterministic`: whether determinism fills memory that nobody has written."""

from __future__ import annotations

import sys
from types import ModuleType

from .._base.determinism import DETERMINISM, choose_filling
from .._base.errors import type_name


class _Deterministic(ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether `torch.empty` and its like are filled while determinism is on."""
        return DETERMINISM.fills

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type_name(mode)}")
        choose_filling(mode)


sys.modules[__name__].__class__ = _Deterministic
