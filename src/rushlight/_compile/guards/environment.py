"""What the library itself shows a step: its functions, its classes' methods, hooks for everything.

Programs replace functions of the library now and then (`F.gelu = mine`), patch a layer's `forward`,
or register a hook for all modules. A step that was compiled before must notice: the entries that
its code names are guarded like those of its own modules.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..._base import dtypes
from ..._base.determinism import DETERMINISM
from ..._base.device import DEFAULTS
from ..._tensor import settings
from ...nn.modules import _hooks
from ...optim import optimizer as rules
from ..refusal import Refusal, is_rushlight
from .captured_state import State
from .places import Place

if TYPE_CHECKING:
    from ..capture.code_observation import Observation


def take_up(state: State) -> None:
    """Adds places for what the step's code names in the library.

    Raises:
        Refusal: where something runs at every module or optimizer step.
    """
    for table in _tables():
        if table:
            raise Refusal("hooks are registered for all modules or all optimizers")
        state.places.append(Place(table, "dict", {}, "the hooks of all modules"))
    flags = Place(settings._settings, "dict", dict(settings._settings), "settings")
    state.places.append(flags)
    chosen = {k: getattr(DETERMINISM, k) for k in ("on", "warns_only", "filling")}
    state.places.append(Place(DETERMINISM, "function", chosen, "determinism"))
    fields = {"changed": DEFAULTS.changed, "where": DEFAULTS.where}
    state.places.append(Place(DEFAULTS, "function", fields, "the default device"))
    default = {"float_": dtypes._default.float_}
    state.places.append(Place(dtypes._default, "function", default, "the default type"))


def ask_library(state: State, observation: Observation) -> None:
    """Asks the library's own modules for what its code looked up while the step was recorded.

    `nn.Linear` calls `F.linear`: who replaces that means the layer, too. Modules whose names begin
    with an underscore, and those of the operations' rows, are nobody's but the library's.
    """
    ask = state.lookups
    for code, space in observation.spaces.items():
        if _inner(space.get("__name__", "")):
            continue
        names = [k for k in code.co_names if k not in space or callable(space[k])]
        ask.ask(space, names, "the library")
        for k in code.co_names:
            found = space.get(k)
            if (
                type(found) is ModuleType
                and is_rushlight(str(vars(found).get("__file__")))
                and not _inner(found.__name__)
            ):
                inner = vars(found)
                ask.ask(inner, [n for n in code.co_names if callable(inner.get(n))], "the library")
        stem, _, method = getattr(code, "co_qualname", "").rpartition(".")
        kind = space.get(stem)
        if isinstance(kind, type) and method in vars(kind):
            ask.ask_class(kind, [method])


def _inner(name: str) -> bool:
    return "._" in name or name.startswith("rushlight._table") or name == "rushlight._base.errors"


def _tables() -> list[dict[Any, Any]]:
    """The hooks that run everywhere."""
    found: list[dict[Any, Any]] = [
        _hooks._forward_pre_everywhere, _hooks._forward_everywhere,
        _hooks._backward_pre_everywhere, _hooks._backward_everywhere,
    ]  # fmt: skip
    found += [rules._global_optimizer_pre_hooks, rules._global_optimizer_post_hooks]
    return found
