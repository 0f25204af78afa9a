"""The chi-squared distribution: the sum of `df` squared normals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from .gamma import Gamma

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


class Chi2(Gamma):
    """Gamma(df / 2, 1 / 2)."""

    arg_constraints = {"df": constraints.positive}
    _parameters = {"concentration": 0, "rate": 0}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


__all__ = ["Chi2"]
