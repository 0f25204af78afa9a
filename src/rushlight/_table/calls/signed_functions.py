"""Functions of a PyTorch signature whose work is done by other operations.

A row brings its signature with it; a composite that users call with every kind of argument gets one
here, and with it overloads, conversions and error messages like a row's.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..._base.own_packages import package_name
from ..._base.schema import Schema, parse
from ..rows.row import Row
from .conversions import Unfit
from .dispatch import Dispatcher, by_plans, call_key
from .entries import enter_row
from .long_integers import refuse_long

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class Signature(Row):
    """A schema with the plain function that takes its values, in order."""

    __slots__ = ("body", "parsed")

    body: Callable[..., Any]
    parsed: Schema | None

    def __init__(self, text: str, body: AnyCallable) -> None:
        self.text = text
        self.parsed = None
        self.body = body
        self.numbers = False
        self.namespace = ("", "nn.functional")
        self.method = False
        self.op = SimpleNamespace(broadcasts=False)  # type: ignore[assignment]

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        """The schema, which is parsed at the first call."""
        if self.parsed is None:
            self.parsed = parse(self.text)
            for p in self.parsed.params:
                if p.is_list and isinstance(p.default, tuple) and p.list_size and p.default:
                    p.default = p.default[0]  # messages show the one number that stands for all
        return self.parsed


def give_signatures(
    *texts: str, then: tuple[Callable[..., Any], ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function behind the given signatures (`then`: behind the later ones).

    Raises (the decorated function): TypeError for arguments that fit none of them.
    """

    def decorate(body: AnyCallable) -> AnyCallable:
        bodies = (body, *then)
        signatures: list[Any] = [
            Signature(text, bodies[min(k, len(bodies) - 1)]) for k, text in enumerate(texts)
        ]
        general = Dispatcher(texts[0].partition("(")[0].partition(".")[0], signatures)
        plans = general.plans

        def resolve(*args: object, **kwargs: object) -> Any:
            key = call_key(args, kwargs)
            plan = plans.get(key)
            if plan is None:
                plan = general.resolve(args, kwargs)
                if plan.lasting:
                    plans[key] = plan
            if plan.direct and not kwargs:
                values: Any = (*args, *plan.tail)
            else:
                try:
                    values = general.gather(plan, args, kwargs)
                except Unfit:
                    plans.pop(key, None)
                    return resolve(*args, **kwargs)
            chosen: Any = plan.row
            try:
                return chosen.body(*values)
            except Exception:
                refuse_long(general.kind, general.short, args, kwargs)
                raise

        function = by_plans(general, resolve)
        function.__name__ = function.__qualname__ = general.name
        function.__doc__ = body.__doc__
        function.__module__ = package_name()
        enter_row(function, None, general, resolve)
        return function

    return decorate
