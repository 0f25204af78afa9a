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
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._array.lazy_modules import Function
from ..._base.schema import Schema
from ..._formula.words import Formula
from .row import Row, general

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class Options(NamedTuple):
    """What else a row says of a loss."""

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


class LossFormula(Formula):
    """A formula of a loss, or of its slope, in one place."""

    __slots__ = ("options", "short")

    def __init__(self, told: Formula, options: Options, short: bool = False) -> None:
        super().__init__(told.function, told.override)
        self.options = options
        self.short = short

    def generated(self, name: str, key: str, schema: Schema) -> AnyCallable:
        """The function on arrays: the loss, or its gradient for the argument `key`."""
        from ..._array.nn import generated_losses as losses

        options, values = self.options, self.options.check_values
        if type(values) is Function:
            options = options._replace(check_values=values.found())
        if not key:
            return losses.generate_loss(name, self.function, schema, options, self.short)
        return losses.generate_gradient(name, key, self.function, schema, options, self.short)


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
    options = Options(check, check_values, result, gradient_like, in_steps, same_types)
    slopes = {key: told for key, told in declared.items() if isinstance(told, Formula)}
    short = {"raw": each, **slopes}
    return general(
        schema,
        LossFormula(each, options),
        at_defaults={
            key: LossFormula(told, options, True) for key, told in short.items()
        } if fast_defaults else None,
        **{**declared, **{key: LossFormula(told, options) for key, told in slopes.items()}},
    )  # fmt: skip
