"""`torch.ops`: PyTorch's dispatcher namespaces, `aten` and those of registered operators."""

from __future__ import annotations

import sys
from typing import Any, Final

from .._base.lazy import lazy
from .._table import aten as _aten

_REGISTERED: Final = "rushlight._table.names.registered_operators"


def _find(name: str) -> Any:
    if name == "aten":
        globals()["aten"] = found = _aten()
        return found
    if name == "profiler":
        from . import profiler_ops

        return profiler_ops
    if _REGISTERED in sys.modules:
        registered = sys.modules[_REGISTERED].NAMESPACES
        if name in registered:
            return registered[name]
    if name[0] == "_":
        raise KeyError(name)
    from .._table.names import registered_operators

    if name in ("load_library", "import_module"):
        return getattr(registered_operators, name)
    if name == "loaded_libraries":
        return registered_operators.LOADED
    return registered_operators.namespace_of(name)


# `torch.ops.aten` and the namespaces of registered operators are made when first asked for.
__getattr__ = lazy(__name__, find=_find)
