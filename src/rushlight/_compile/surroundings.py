"""What the library itself shows a step: its functions, its classes' methods, hooks for everything.

Programs replace functions of the library now and then (`F.gelu = mine`), patch a layer's `forward`,
or register a hook for all modules. A step that was compiled before must notice: the entries that
its code names are guarded like those of its own modules.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes, settings
from .._core.storage import CLASSES
from ..nn.modules import _hooks
from ..nn.modules.module import Module
from ..optim import optimizer as rules
from .refusal import Refusal
from .state import Place, State, _library_class

_DATA = (bool, int, float, str, list)


def take_up(state: State) -> None:
    """Adds places for what the step's code names in the library.

    Raises:
        Refusal: where something runs at every module or optimizer step.
    """
    for table in _tables():
        if table:
            raise Refusal("hooks are registered for all modules or all optimizers")
        state.places.append(Place(table, "dict", {}, "the hooks of all modules"))
    names = state.names
    for space in state.libraries:
        _add(state, space, "names", [k for k in names if k in space], "the library")
    for space in state.standard:  # `sys.argv`
        data = [k for k in names if type(space.get(k)) in _DATA]
        _add(state, space, "names", data, "Python's library")
        for found in (space[k] for k in data):
            if type(found) is list:
                state.places.append(Place(found, "list", dict(enumerate(found)), "a list"))
    _methods(state, CLASSES.tensor, names)
    kinds = {type(x) for x in state.seen.values() if isinstance(x, (Module, rules.Optimizer))}
    for kind in sorted(kinds, key=lambda kind: kind.__qualname__):
        if _library_class(kind):
            layer = issubclass(kind, Module)
            _methods(state, kind, {"forward"} if layer else {"step", "zero_grad"})
    flags = Place(settings._settings, "dict", dict(settings._settings), "settings")
    flags.guarded = frozenset({"deterministic"})
    state.places.append(flags)
    default = {"float_": dtypes._default.float_}
    state.places.append(Place(dtypes._default, "function", default, "the default type"))


def _methods(state: State, kind: Any, names: set[str]) -> None:
    """Adds a place for some methods of a class of the library's, as it or a base of it has them."""
    found = {k: getattr(kind, k) for k in sorted(names) if hasattr(kind, k)}
    plain = {k: v for k, v in found.items() if v is getattr(kind, k)}  # no bound methods
    if plain:
        state.places.append(Place(kind, "function", plain, kind.__name__))


def _add(state: State, container: Any, kind: str, names: list[str], label: str) -> None:
    if names:
        space = vars(container) if kind == "class" else container
        entries = {k: space[k] for k in sorted(names)}
        state.places.append(Place(container, kind, entries, label))


def _tables() -> list[dict[Any, Any]]:
    """The hooks that run everywhere."""
    found: list[dict[Any, Any]] = [
        _hooks._forward_pre_everywhere, _hooks._forward_everywhere,
        _hooks._backward_pre_everywhere, _hooks._backward_everywhere,
    ]  # fmt: skip
    found += [rules._global_optimizer_pre_hooks, rules._global_optimizer_post_hooks]
    return found


__all__ = ["take_up"]
