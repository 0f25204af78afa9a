"""Forward mode through custom functions: the user's `jvp`, and what it must return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import errors
from .._core import engine
from .._core.mode import CURRENT, derive, ready
from .._core.storage import TensorBase, new_tensor, version_of
from .context import FunctionNode
from .duals import set_tangent, tangent_of

if TYPE_CHECKING:
    from .._base.annotations import Arguments
    from .._tensor.tensor import Tensor


def carry_tangents(
    node: FunctionNode,
    args: tuple[object, ...],
    outputs: list[Any],
    live: list[int],
    dirty: Any,
) -> None:
    """Gives the outputs the tangents that the user's `jvp` computes, where an argument has one.

    `live` are the numbers of the differentiable outputs, `dirty` the inputs written in place.

    Raises:
        RuntimeError: where `jvp` returns another number of tangents than there are outputs, one for
            an output that can't have any, or one that does not share memory where the output does.
    """
    given = [tangent_of(a) if isinstance(a, TensorBase) else None for a in args]
    if all(t is None for t in given):
        return
    before = {id(t): version_of(t) for t in given if t is not None}
    shown: list[Any] = list(given)
    if node.materialize:
        shown = [
            new_tensor(engine.WORLDS.raw.zeros(a._raw.shape, a._raw.dtype))
            if t is None and isinstance(a, TensorBase)
            else t
            for t, a in zip(given, args)
        ]
    node.forward_kept = node.take("saved_for_forward", None)
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), forward_grad=False))
        found = node.function.jvp(node.shown(), *shown)
    finally:
        CURRENT.set(former_mode)
        node.forward_kept = None
    found = found if type(found) is tuple else (found,)
    if len(found) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(found)})"
        )
    for k, t in enumerate(found):
        if t is not None and not isinstance(t, TensorBase):
            raise RuntimeError(
                f"expected Variable or None (got {errors.type_name(t)}) for grad output {k}."
            )
    written = {id(d) for d in dirty}
    by_input = {id(a): t for a, t in zip(args, given) if isinstance(a, TensorBase)}
    for k, (o, t) in enumerate(zip(outputs, found)):
        if not isinstance(o, TensorBase):
            continue
        if k not in live:
            if t is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {k}, but  the corresponding "
                    "forward output is not a differentiable Tensor."
                    "You should return None at that position instead."
                )
            continue
        if t is None:
            raise RuntimeError("Expected both tensor and its forward grad to be floating point or "
                               "complex")  # fmt: skip
        if id(o) in written and id(o) in by_input:
            old = by_input[id(o)]
            if old is not None:
                if t is not old or version_of(t) == before[id(old)]:
                    raise RuntimeError(
                        "An inplace custom Function is not modifying the forward mode gradients "
                        "inplace. If the forward is modifying an input inplace, then the jvp "
                        "function must modify the corresponding gradient inplace."
                    )
                continue
        elif o._view is not None and o._view.tracked:
            _check_shares(o, t, args, given)
        set_tangent(o, t)


def _check_shares(o: TensorBase, t: Tensor, args: tuple[object, ...], given: Arguments) -> None:
    """An output that is a view of an input needs a tangent that is a view of the input's."""
    if t._view is None:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is "
            "not returning a view."
        )
    source = _root(o)
    for a, old in zip(args, given):
        if isinstance(a, TensorBase) and _root(a) is source and old is not None:
            if _root(t) is not _root(old):
                whose = (
                    "the given grad input"
                    if old._view is None
                    else ("the same base as the given grad input")
                )
                raise RuntimeError(
                    "A custom Function is returning a view but the jvp is not returning a view of "
                    f"{whose}."
                )
            return


def _root(t: TensorBase) -> TensorBase:
    """The tensor whose memory `t` shows."""
    return t if t._view is None else t._view.base


__all__ = ["carry_tangents"]
