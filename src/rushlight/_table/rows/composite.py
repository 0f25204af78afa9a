"""Composite operations: plain functions over rows, registered beside them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..._base.lazy import Pending
from ..._base.own_packages import package_name
from .out_rules import AS_MOST, OutRules

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])

COMPOSITES: Final[Pending[tuple[str, str]]] = Pending()  # (namespace, name) -> function
METHODS: Final[Pending[str]] = Pending()  # name -> function, attached to Tensor
#: A function that does something about keywords -> what it comes to where there are none.
POSITIONAL: Final[dict[Any, Any]] = {}
#: A function of the table -> the one that users call, which asks in its own first lines.
ASK_THEMSELVES: Final[dict[Any, Any]] = {}
#: A function -> the builtin by which users know it, see Note [Functions that don't bind].
BUILTINS: Final[dict[AnyCallable, AnyCallable]] = {}
#: A function -> what takes its usual calls in C, see Note [Entries].
ENTRIES: Final[dict[AnyCallable, AnyCallable]] = {}


def without_keywords(function: AnyCallable) -> AnyCallable:
    """What a function comes to where there are no keywords."""
    while function in POSITIONAL:
        function = POSITIONAL[function]
    return function


def as_called(function: AnyCallable) -> AnyCallable:
    """A function as users call it, who may compare it with what they have imported."""
    return BUILTINS.get(function, function)


def asks(function: F) -> F:
    """A method that asks by itself, in its first lines: a call around it would be felt.

    if ALERTED and interposed():
        handled = call_whole(method, (self,), {})
        if handled is not NOT_HANDLED:
            return handled
    """
    function._asks = True  # type: ignore[attr-defined]
    return function


def make_asking(make: Callable[[bool], F]) -> F:
    """A function made in two kinds: the table's own, and one for users that asks by itself.

    def make(asking):
        def function(input):
            if asking and ALERTED and interposed(): ...
    """
    own = make(False)
    ASK_THEMSELVES[own] = asks(make(True))
    return own


def _with_out(name: str, function: F, rules: OutRules) -> F:
    @functools.wraps(function)
    def taking_out(*args: object, out: Tensor | None = None, **kwargs: object) -> Any:
        if out is None:
            return function(*args, **kwargs)
        from .out_argument import run_into

        return run_into(name, functools.partial(function, *args, **kwargs), args, out, rules=rules)

    POSITIONAL[taking_out] = function
    return taking_out  # type: ignore[return-value]


def _with_numpy_words(function: F) -> F:
    """The function, which also takes `axis` for `dim` and `keepdims` for `keepdim`."""

    @functools.wraps(function)
    def translating(*args: object, **kwargs: object) -> Any:
        if kwargs:
            if "axis" in kwargs and "dim" not in kwargs:
                kwargs["dim"] = kwargs.pop("axis")
            if "keepdims" in kwargs and "keepdim" not in kwargs:
                kwargs["keepdim"] = kwargs.pop("keepdims")
        return function(*args, **kwargs)

    POSITIONAL[translating] = function
    return translating  # type: ignore[return-value]


def composite(
    *namespaces: str,
    method: bool = False,
    name: str = "",
    out: bool | OutRules = False,
    numpy_words: bool = False,
) -> Callable[[F], F]:
    """Registers a function under the given namespaces ("" is the top level), and as a method.

    With `out` the function also takes the keyword `out`, a tensor or as many as it has results;
    rules say how it is looked at.
    With `numpy_words` it takes `axis` for `dim` and `keepdims` for `keepdim`, as all rows do.
    """

    def register(function: F) -> F:
        shown = name or function.__name__
        if name and namespaces == ("nn.functional",):
            function.__name__ = function.__qualname__ = name
            function.__module__ = f"{package_name()}.nn.functional"
        if out:
            function = _with_out(shown, function, out if isinstance(out, OutRules) else AS_MOST)
        public = function
        if numpy_words:
            public = _with_numpy_words(function)
        for namespace in namespaces or ("",):
            COMPOSITES[(namespace, shown)] = public
        if method:
            METHODS[shown] = public
        return function

    return register
