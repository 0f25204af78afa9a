"""One step of a formula: a kernel on arrays, the row of the same meaning on Tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from .tensor_namespace import table

if TYPE_CHECKING:
    from types import ModuleType


def either(xp: ModuleType, kernel: Callable[..., Any], name: str, *args: Any) -> Any:
    """`kernel(*args)` where `xp` works on arrays, the row called `name` where it records."""
    return xp.fused(kernel, _recorded(name), *args)


@cache
def _recorded(name: str) -> Callable[..., Any]:
    return lambda *args: table(name)(*args)
