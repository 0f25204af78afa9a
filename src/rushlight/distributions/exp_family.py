"""`ExponentialFamily`: distributions p(x) = h(x) exp(<t(x), η> - A(η)), entropy from A alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._ground import enable_grad, grad
from .distribution import Distribution
from .utils import _sum_rightmost

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


class ExponentialFamily(Distribution):
    """A distribution with natural parameters and a log normalizer."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Tensor | int:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """A(η) - <η, A'(η)> - E[log h(x)], with A' by differentiation."""
        result = -self._mean_carrier_measure
        with enable_grad():
            natural = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*natural)
            slopes = grad(normalizer.sum(), natural, create_graph=True)
        result = result + normalizer
        for parameter, slope in zip(natural, slopes):
            result = result - _sum_rightmost(parameter * slope, len(self.event_shape))
        return result


__all__ = ["ExponentialFamily"]
