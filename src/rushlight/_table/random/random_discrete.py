"""Random tensors whose parameters are tensors: Poisson, binomial, gamma and Dirichlet numbers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.row import general
from .generator import stream_of

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from .generator import Generator

raw = later("_array.random.rejection")

_poisson = general(
    "poisson(Tensor self, Generator? generator=None) -> Tensor",
    lambda rate, generator: raw.poisson(stream_of(generator), rate),
    self=lambda xp, g: xp.zeros_like(g),
    method=False,
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=1, high=20),)],
    doc="A Poisson number for each rate; its gradient is zero.",
)
_binomial = general(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    lambda count, prob, generator: raw.binomial(stream_of(generator), count, prob),
    count=_checks.no_derivative("binomial"),
    prob=_checks.no_derivative("binomial"),
    node="NotImplemented",
    public=False,
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=4, high=30), mk(3, 4, low=0.1, high=0.9))],
    doc="A binomial number for each count and probability.",
)


@composite("")
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` throws succeed, each with probability `prob`.

    Raises: ValueError for integers, RuntimeError for two different types.
    """
    kinds = [T.dtype_of(count), T.dtype_of(prob)]
    for name, kind in zip(("count", "prob"), kinds):
        if not kind.is_floating_point:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: "
                f"{D.scalar_name(kind)}"
            )
    mismatch = errors.broadcast(count._raw.shape, prob._raw.shape)
    if mismatch is not None:
        raise RuntimeError(mismatch)
    if kinds[0] is not kinds[1]:
        raise RuntimeError(
            f"Found dtype {D.scalar_name(kinds[1])} but expected {D.scalar_name(kinds[0])}"
        )
    drawn = apply_n(_binomial.op, [count, prob, generator])
    if count._raw.size and drawn._raw.shape != count._raw.shape:  # it has its size at first
        warnings.warn(
            errors.resized_out(count._raw.shape, drawn._raw.shape), UserWarning, stacklevel=4
        )
    return drawn


standard_gamma_grad = general(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    raw.standard_gamma_grad,
    self=_checks.unavailable("_standard_gamma_grad"),
    output=_checks.unavailable("_standard_gamma_grad"),
    out=False,
    dtypes="float",
    kernel="_standard_gamma_grad_cpu",
    samples=lambda mk: [(mk(3, low=1, high=9), mk(3, low=1, high=9))],
    doc="The derivative of a gamma sample by its shape parameter.",
)
standard_gamma = general(
    "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    lambda alpha, generator: raw.standard_gamma(stream_of(generator), alpha),
    self=lambda xp, g, self, out: g * xp._standard_gamma_grad(self, out),
    out=False,
    dtypes="float",
    kernel="gamma_cpu",
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=1, high=9),)],
    doc="A gamma number of scale one for each shape parameter.",
)
sample_dirichlet = general(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    lambda alpha, generator: raw.dirichlet(stream_of(generator), alpha),
    self=_checks.no_derivative("_sample_dirichlet"),
    node="NotImplemented",
    out=False,
    dtypes="float",
    kernel="dirichlet",
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=1, high=9),)],
    doc="A point of the simplex for each row of concentrations.",
)
dirichlet_grad = general(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    raw.dirichlet_grad,
    x=_checks.no_derivative("_dirichlet_grad"),
    alpha=_checks.no_derivative("_dirichlet_grad"),
    total=_checks.no_derivative("_dirichlet_grad"),
    node="NotImplemented",
    out=False,
    dtypes="float",
    kernel="_dirichlet_grad_cpu",
    samples=lambda mk: [(mk(3, low=0.1, high=0.9), mk(3, low=1, high=3), mk(3, low=4, high=9))],
    doc="The derivative of a Dirichlet sample by its concentrations, divided by 1 - x.",
)
