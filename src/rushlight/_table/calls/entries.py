"""What takes the usual calls of public functions in C: see Note [Entries] in `unbound.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._core.apply import apply1, apply2, apply_view
from ..._core.storage import TensorBase
from ..._native.ufunc_loops import ENTRY
from ..rows.composite import ENTRIES
from .conversions import Unfit
from .long_integers import refuse_long

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Keywords, Positional
    from ..._core.op import Op
    from .dispatch import Dispatcher

#: What a conversion raises where a value doesn't fit: another way says why, or finds one.
MISFITS: Final = (Unfit, TypeError, ValueError)


def enter_row(
    function: AnyCallable, op: Op | None, general: Dispatcher, others: AnyCallable
) -> None:
    """Has the usual calls of a row's function taken in C: those of a plan of the dispatcher.

    `op` is what calls with tensors alone come to, one or two; `others` takes all else.
    """
    if ENTRY is None:
        return

    def explain(args: Positional, kwargs: Keywords, box: list[Exception]) -> object:
        try:
            raise box.pop()
        except Exception:
            refuse_long(general.kind, general.short, args, kwargs)
            raise

    entry = ENTRY(function, others, "plan", (general.plans, MISFITS), explain)
    if op is not None:
        one = len(op.tensors) == 1
        run = apply1 if one else apply2
        entry = ENTRY(function, entry, "one" if one else "two", (TensorBase, run, op))
    ENTRIES[function] = entry


def enter_view(function: AnyCallable, *ops: Op | None) -> AnyCallable:
    """The function of a view, with calls that give nothing but integers taken in C.

    The operations are those for no integer, for one, and so on; None where there is none.
    """
    if ENTRY is not None:
        ENTRIES[function] = ENTRY(function, function, "view", (TensorBase, apply_view, ops))
    return function
