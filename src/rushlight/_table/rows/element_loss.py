"""Rows of losses that are told by element: what is reduced, and what it is in each place.

    huber = element_loss(
        "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
        formula(lambda self, target, delta: …),
        self=formula(lambda self, target, delta: …),
    )

The formulas are those of one place, without `reduction` and without the gradient of the result:
`_array.nn.generated_losses` makes of them what computes on arrays, what records, kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._base.lazy import Function
from ..._base.schema import Schema
from ..._formula.words import Formula
from .row import Row, general

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class LossFormula(Formula):
    """A formula of a loss, or of its slope, in one place; with what else the row says of it."""

    __slots__ = ("check", "check_values", "gradient_like", "in_steps", "result", "same_types",
                 "short")  # fmt: skip

    #: Refuses types and shapes of all tensors; asked where they aren't of one float type and shape.
    check: Callable[..., None] | None
    #: Refuses values of the tensors that are always there.
    check_values: Any
    #: The argument whose type and strides the result has.
    result: str
    #: The argument whose strides a gradient has, of which it is for and which tensors are given;
    #: "" for C order.
    gradient_like: Callable[[str, tuple[str, ...]], str]
    #: Whether PyTorch computes it in several operations, each of which rounds to 16 bits.
    in_steps: bool
    #: Whether the gradient refuses a target of another type.
    same_types: bool
    #: Whether it is of the tensors alone: all further arguments have their defaults.
    short: bool

    def generate(self, name: str, key: str, schema: Schema) -> AnyCallable:
        """The function on arrays: the loss, or its gradient for the argument `key`."""
        from ..._array.nn import generated_losses as losses

        if type(self.check_values) is Function:
            self.check_values = self.check_values.find()
        return losses.generate_loss(name, key, self, schema)


def element_loss(
    schema: str,
    each: Formula,
    *,
    check: Callable[..., None] | None = None,
    check_values: Function | None = None,
    result: str = "self",
    gradient_like: Callable[[str, tuple[str, ...]], str] = lambda key, given: "",
    in_steps: bool = False,
    same_types: bool = False,
    fast_defaults: bool = False,
    **declared: object,
) -> Row:
    """Declares a loss by element; `fast_defaults` asks for a faster form of tensors alone."""

    def of_loss(each: Formula, short: bool = False) -> LossFormula:
        made = LossFormula(each.function, each.override)
        made.check, made.check_values, made.result = check, check_values, result
        made.gradient_like, made.in_steps, made.same_types = gradient_like, in_steps, same_types
        made.short = short
        return made

    slopes = {key: slope for key, slope in declared.items() if isinstance(slope, Formula)}
    short = {"raw": each, **slopes}
    return general(
        schema,
        of_loss(each),
        at_defaults={key: of_loss(f, True) for key, f in short.items()} if fast_defaults else None,
        **{**declared, **{key: of_loss(slope) for key, slope in slopes.items()}},
    )
