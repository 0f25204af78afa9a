"""What may run once more than the user asked for.

To record the gradients of a module's results, a backward is run beside the one that the user runs.
Nobody may notice it. So nothing is recorded
- where hooks are on the way, or a user's `backward` does more than compute;
- where the user's code brings saved tensors back, as a checkpointed body does by running again;
- where that backward would fail or warn: whether it runs, and so what it says, is up to the user.
"""

from __future__ import annotations

import builtins
import dis
import warnings
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..._core.node import Node
from ..._core.saved import Packed
from ...autograd.context import FunctionNode
from ..guards.leaf_hooks import only_after
from ..refusal import Refusal, is_library
from .code_observation import HARMLESS

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor

_STORES: Final = frozenset({
    "STORE_GLOBAL", "STORE_DEREF", "STORE_SUBSCR", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_DEREF",
    "DELETE_SUBSCR", "DELETE_ATTR", "IMPORT_NAME", "YIELD_VALUE",
})  # fmt: skip
_CHANGES: Final = frozenset({
    "append", "extend", "insert", "pop", "popleft", "appendleft", "remove", "clear", "update",
    "setdefault", "write", "writelines", "debug", "info", "warning", "warn", "error", "put", "send",
})  # fmt: skip


def check_backward(outputs: list[Tensor]) -> None:
    """Looks at all that a backward from some results would run.

    Raises:
        Refusal: for hooks, and for functions of the user's that may have effects.
    """
    seen: set[int] = set()
    stack: list[Any] = [t._node for t in outputs]
    while stack:
        vertex = stack.pop()
        if vertex is None or id(vertex) in seen:
            continue
        seen.add(id(vertex))
        if vertex.hooks is not None and (isinstance(vertex, Node) or not only_after(vertex)):
            raise Refusal("hooks run in the backward of its results")
        if isinstance(vertex, FunctionNode) and not _computes(vertex.function.backward):
            raise Refusal("the backward of a Function of the user's may do more than compute")
        if isinstance(vertex, Node):
            if any(map(_has_packed, vertex.saved)):
                raise Refusal("the backward of its results brings back saved tensors by hooks")
            stack.extend(vertex.next)


def try_backward(run: AnyCallable) -> tuple[Tensor, ...]:
    """The result of a backward that the user hasn't asked for.

    Raises:
        Refusal: where it fails or warns.
    """
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = run()
    except Refusal:
        raise
    except Exception as error:
        text = str(error).partition("\n")[0]
        kind = type(error).__name__
        raise Refusal(f"the backward of its results fails: {kind}: {text}") from None
    if said:
        raise Refusal(f"the backward of its results warns: {said[0].message}")
    return result


def _has_packed(saved: object) -> bool:
    """Whether a hook has made something of what a node has saved."""
    if type(saved) is tuple or type(saved) is list:
        return any(map(_has_packed, saved))
    return isinstance(saved, Packed)


def _computes(function: AnyCallable, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether a function, as far as its code shows, changes nothing outside."""
    if not isinstance(function, FunctionType):
        return False
    if function in seen or is_library(function.__code__.co_filename):
        return True
    return _only_reads(function.__code__, function, seen | {function})


def _only_reads(code: CodeType, function: FunctionType, seen: frozenset[Any]) -> bool:
    for i in dis.get_instructions(code):
        name = i.argval
        if i.opname in _STORES or (i.opname in ("LOAD_METHOD", "LOAD_ATTR") and name in _CHANGES):
            return False
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found = function.__globals__.get(name)
            if isinstance(found, FunctionType) and not _computes(found, seen):
                return False
            if found is None and hasattr(builtins, name) and name not in HARMLESS:
                return False
    inner = [x for x in code.co_consts if isinstance(x, CodeType)]
    return all(_only_reads(x, function, seen) for x in inner)
