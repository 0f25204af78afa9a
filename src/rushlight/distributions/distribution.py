"""`Distribution`, of which all distributions are: shapes, validation, sampling and printing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import Size, Tensor, f, no_grad
from .utils import _LazyProperty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .constraints import Constraint


class Distribution:
    """A probability distribution over events, or a batch of them.

    `batch_shape` is the shape of the parameters, `event_shape` that of one draw. A subclass names
    its parameters in `_parameters`, each with the number of axes that belong to one event; then
    `expand` works for it.
    """

    if TYPE_CHECKING:

        @property
        def has_rsample(self) -> bool: ...
        @property
        def has_enumerate_support(self) -> bool: ...

    else:
        has_rsample = False
        has_enumerate_support = False
    _validate_args: bool = __debug__
    _parameters: dict[str, int] = {}

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether distributions check their arguments where they aren't told."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()  # of the other class, where a class has two

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with `validate_args=False` "
                "to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), _LazyProperty
            ):
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        """The same distribution with a larger batch; parameters are expanded, not copied."""
        owner = next(c for c in type(self).__mro__ if "_parameters" in c.__dict__)
        if owner is Distribution:
            raise NotImplementedError
        new = self._get_checked_instance(owner, _instance)
        batch = Size(batch_shape)
        for name, event_dims in self._parameters.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                event = value.shape[value.dim() - event_dims :] if event_dims else ()
                new.__dict__[name] = value.expand((*batch, *event))
        self._expand_rest(new, batch)
        Distribution.__init__(new, batch, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        """Gives `new` what isn't a parameter."""

    def _get_checked_instance(self, cls: type[Distribution], _instance: Self | None = None) -> Self:
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Shape:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        """The constraint of each parameter by its name."""
        raise NotImplementedError

    @property
    def support(self) -> Constraint:
        """The constraint that draws satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A draw, or `sample_shape` of them, without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A draw that has a gradient by the parameters."""
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or mass at `value`."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of being at most `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that can be drawn, along a first axis."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """e to the power of the entropy."""
        return f.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Shape:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _enumerate(self, values: Tensor, expand: bool) -> Tensor:
        """Values of the support along a new first axis, over the batch where `expand` says so."""
        event = tuple(values.shape[1:])
        values = values.view((-1, *(1,) * len(self._batch_shape), *event))
        return values.expand((-1, *self._batch_shape, *event)) if expand else values

    def _validate_sample(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.shape[max(start, 0) :] != self._event_shape or start < 0:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for own, other in zip(reversed(value.size()), reversed(expected)):
            if own != 1 and other != 1 and own != other:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = []
        for name in names:
            value = self.__dict__[name]
            shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


def value_checked(distribution: Distribution, value: Tensor) -> None:
    """Raises ValueError for a value outside of the support, where the distribution checks."""
    if distribution._validate_args:
        distribution._validate_sample(value)


__all__ = ["Distribution"]
