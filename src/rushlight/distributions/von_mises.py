"""The von Mises distribution of angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import constraints
from ._ground import Size, dtypes, f, no_grad, special
from .distribution import Distribution, value_checked
from .utils import _attribute, broadcast_all, lazy_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


def _log_i0(x: Tensor) -> Tensor:
    """log I0(x), from the scaled Bessel function, which doesn't overflow."""
    return x + special.i0e(x).log()


class VonMises(Distribution):
    """Angles with density exp(concentration · cos(x - loc)) / (2π I0(concentration))."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _parameters = {"loc": 0, "concentration": 0}

    def __init__(
        self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        weight = self.concentration * f.cos(value - self.loc)
        return weight - math.log(2 * math.pi) - _log_i0(self.concentration)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy proposal (Best and Fisher, 1979)."""
        kappa = self.concentration.to(dtypes.float64)
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        exact = (1 + rho**2) / (2 * rho)
        # Next to zero the difference above has no digits left; its expansion has.
        return f.where(kappa < 1e-5, 1 / kappa + kappa, exact)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc = self.loc.to(dtypes.float64)
            kappa = self.concentration.to(dtypes.float64).expand(shape)
            r = self._proposal_r.expand(shape)
            x = f.empty(shape, dtype=dtypes.float64, device=self.loc.device)
            done = f.zeros(shape, dtype=dtypes.bool_, device=self.loc.device)
            while not done.all():
                u1, u2, u3 = f.rand((3, *shape), dtype=dtypes.float64).unbind()
                z = f.cos(math.pi * u1)
                w = (1 + r * z) / (r + z)
                c = kappa * (r - w)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                if accept.any():
                    x = f.where(accept, (u3 - 0.5).sign() * w.acos(), x)
                    done = done | accept
            angle = (x + math.pi + loc) % (2 * math.pi) - math.pi
            return angle.to(self.loc.dtype)

    mean = _attribute("loc", "The circular mean.")
    mode = _attribute("loc")

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance, 1 - I1(κ) / I0(κ)."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)


__all__ = ["VonMises"]
