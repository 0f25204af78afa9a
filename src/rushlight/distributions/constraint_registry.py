"""Which transform leads from the real numbers into a constraint: `biject_to`, `transform_to`."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from . import constraints, transforms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._chains import Transform
    from .constraints import Constraint

    Factory = Callable[[Any], transforms.Transform]


class ConstraintRegistry:
    """A table from kinds of constraints to functions that make a transform for one."""

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}

    def register(
        self, constraint: Constraint | type[Constraint], factory: Factory | None = None
    ) -> Factory | Callable[[Factory], object]:
        """Registers a factory for a kind of constraint; without a factory, a decorator."""
        if factory is None:
            return lambda made: self.register(constraint, made)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """A transform whose values satisfy the constraint."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()
_BOTH = (biject_to, transform_to)


def _register(
    kinds: Sequence[Constraint | type[Constraint]],
    factory: Factory,
    registries: Sequence[ConstraintRegistry] = _BOTH,
) -> None:
    for registry in registries:
        for kind in kinds:
            registry.register(kind, factory)


def _above(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


def _below(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    plain = isinstance(low, numbers.Number) and isinstance(high, numbers.Number)
    if plain and low == 0 and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


_register([constraints.real], lambda c: transforms.identity_transform)
_register([constraints.positive, constraints.nonnegative], _above)
_register([constraints.greater_than, constraints.greater_than_eq], _above)
_register([constraints.less_than], _below)
_register([constraints.interval, constraints.half_open_interval], _between)
_register([constraints.corr_cholesky], lambda c: transforms.CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
_register(
    [constraints.positive_definite, constraints.positive_semidefinite],
    lambda c: transforms.PositiveDefiniteTransform(),
    [transform_to],
)
for _registry in _BOTH:

    def _independent(c: Any, own: ConstraintRegistry = _registry) -> Transform:
        return transforms.IndependentTransform(own(c.base_constraint), c.reinterpreted_batch_ndims)

    def _cat(c: Any, own: ConstraintRegistry = _registry) -> Transform:
        return transforms.CatTransform([own(part) for part in c.cseq], c.dim, c.lengths)

    def _stack(c: Any, own: ConstraintRegistry = _registry) -> Transform:
        return transforms.StackTransform([own(part) for part in c.cseq], c.dim)

    _registry.register(constraints.independent, _independent)
    _registry.register(constraints.cat, _cat)
    _registry.register(constraints.stack, _stack)

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]
