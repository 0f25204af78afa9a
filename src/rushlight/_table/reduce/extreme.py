"""Largest and smallest elements, medians, modes: values that are elements of the argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.lazy import later
from ..elementwise.rounding import declare_extremum
from ..rows.out_rules import OutRules, always
from ..rows.row import general, linear, selection

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._base.annotations import Shape, TensorLike
    from ..._base.dtypes import dtype

raw = later("_array.reduce.extreme")
raw_sort = later("_array.reduce.sort")

# ---- what the gradients are made of -----------------------------------------------------------
placed_along = linear(
    "placed_along(Tensor self, Tensor index, int dim, bool keepdim, int[] size) -> Tensor",
    raw.place_along,
    self=lambda xp, g, index, dim, keepdim: xp.taken_along(g, index, dim, keepdim),
    namespace="private",
    refuses_values="any",
    lowering="placed_along",
    samples=lambda mk: [
        (mk(3), mk(3, low=0, high=4, integer=True), 1, False, (3, 4)),
        (mk(1, 4), mk(1, 4, low=0, high=3, integer=True), 0, True, (3, 4)),
    ],
    doc="Zeros with the elements at `index` along `dim`.",
    narrow="all",
)
taken_along = selection(
    "taken_along(Tensor self, Tensor index, int dim, bool keepdim) -> Tensor",
    raw.take_along,
    self=lambda xp, g, self_shape, index, dim, keepdim: xp.placed_along(
        g, index, dim, keepdim, self_shape
    ),
    namespace="private",
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 4), mk(3, low=0, high=4, integer=True), 1, False),
        (mk(3, 4), mk(1, 4, low=0, high=3, integer=True), 0, True),
    ],
    doc="The elements at `index` along `dim`.",
    narrow="all",
)
ties = general(
    "ties(Tensor self, Tensor extreme) -> Tensor",
    raw.ties,
    namespace="private",
    samples=lambda mk: [(mk(3, 4), mk())],
    doc="Where the elements equal the extreme; NaN equals NaN.",
)


def _evenly(
    xp: ModuleType, g: TensorLike, self: TensorLike, out: TensorLike, self_dtype: dtype
) -> TensorLike:
    """The gradient in equal parts to all elements that equal the result."""
    mask = xp.ties(self, out)
    return xp.where(mask, g / xp.sum(xp.astype(mask, self_dtype)), 0)


def _evenly_along(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    out: TensorLike,
    self_dtype: dtype,
    dim: Shape | None,
    keepdim: bool,
) -> TensorLike:
    """The same, within each slice over the dimensions `dim`."""
    shape = self.shape
    dims = tuple(range(len(shape))) if dim is None or dim == () else dim
    same = xp.astype(xp.equal(self, xp.expand_reduced(out, shape, dim, keepdim)), self_dtype)
    count = xp.sum(same, dims, True) if len(shape) else same
    return xp.expand_reduced(g, shape, dim, keepdim) * same / count


def _at_index(
    xp: ModuleType, g0: TensorLike, indices: TensorLike, self_shape: Shape, dim: int, keepdim: bool
) -> TensorLike:
    """The gradient at the places that were chosen."""
    return xp.placed_along(g0, indices, dim, keepdim, self_shape)


def _pair_samples(mk: Any) -> list[Any]:
    return [(mk(3, 4), 1), (mk(3, 4), 0, True), (mk(2, 3, 4), -1)]


def _dims_samples(mk: Any) -> list[Any]:
    return [(mk(3, 4),), (mk(3, 4), (1,)), (mk(2, 3, 4), (0, -1), True)]


# ---- largest and smallest ---------------------------------------------------------------------
max = selection(
    "max(Tensor self) -> Tensor",
    raw.largest,
    self=_evenly,
    node="MaxBackward1",
    lowering="max",
    doc="The largest element; the gradient goes in equal parts to all that equal it.",
    kernel="max_all",
    without_data="fewer",
)
max_other = declare_extremum(
    "max.other(Tensor self, Tensor other) -> Tensor",
    True,
    node="MaximumBackward0",
    lowering="max",
    out_rules=OutRules("maximum"),
)
max_dim = selection(
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    raw.max_along,
    self=_at_index,
    differentiable_out=(True, False),
    lowering="max",
    samples=_pair_samples,
    doc="The largest elements along `dim`, and where they are.",
    without_data="fewer",
)
min = selection(
    "min(Tensor self) -> Tensor",
    raw.smallest,
    self=_evenly,
    node="MinBackward1",
    lowering="min",
    doc="The smallest element; the gradient goes in equal parts to all that equal it.",
    kernel="min_all",
    without_data="fewer",
)
min_other = declare_extremum(
    "min.other(Tensor self, Tensor other) -> Tensor",
    False,
    node="MinimumBackward0",
    lowering="min",
    out_rules=OutRules("minimum"),
)
min_dim = selection(
    "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    raw.min_along,
    self=_at_index,
    differentiable_out=(True, False),
    lowering="min",
    samples=_pair_samples,
    doc="The smallest elements along `dim`, and where they are.",
    without_data="fewer",
)
amax = selection(
    "amax(Tensor self, int[1]? dim=[], bool keepdim=False) -> Tensor",
    raw.amax,
    self=_evenly_along,
    lowering="amax",
    samples=_dims_samples,
    real_only=True,
    out_rules=OutRules(types_first=always),
    doc="The largest elements over the dimensions `dim`.",
    kernel="max_values_cpu",
    without_data="fewer",
)
amin = selection(
    "amin(Tensor self, int[1]? dim=[], bool keepdim=False) -> Tensor",
    raw.amin,
    self=_evenly_along,
    lowering="amin",
    samples=_dims_samples,
    real_only=True,
    out_rules=OutRules(types_first=always),
    doc="The smallest elements over the dimensions `dim`.",
    kernel="min_values_cpu",
    without_data="fewer",
)


def _aminmax_gradient(
    xp: ModuleType,
    gs: Sequence[TensorLike],
    self: TensorLike,
    min: TensorLike,
    max: TensorLike,
    self_dtype: dtype,
    dim: int | None,
    keepdim: bool,
) -> Any:
    """Those of both, as far as they are asked for."""
    dims = None if dim is None else (dim,)
    total = None
    for g, out in zip(gs, (min, max)):
        if g is not None:
            part = _evenly_along(xp, g, self, out, self_dtype, dims, keepdim)
            total = part if total is None else total + part
    return total


aminmax = general(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    raw.aminmax,
    self=_aminmax_gradient,
    samples=lambda mk: [(mk(3, 4), None, False), (mk(3, 4), 1, True)],
    doc="The smallest and the largest elements.",
)
argmax = general(
    "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    raw.argmax,
    lowering="argmax",
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), 1, True)],
    doc="Where the largest element is: the first of equal ones.",
    without_data="fewer",
)
argmin = general(
    "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    raw.argmin,
    lowering="argmin",
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), 1, True)],
    doc="Where the smallest element is: the first of equal ones.",
    without_data="fewer",
)

# ---- elements by rank -------------------------------------------------------------------------
median = selection(
    "median(Tensor self) -> Tensor",
    raw_sort.median,
    self=_evenly,
    real_only=True,
    doc="The median of all elements: the lower of two middle ones.",
    without_data="fewer",
)
median_dim = selection(
    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    raw_sort.median_along,
    self=_at_index,
    differentiable_out=(True, False),
    samples=_pair_samples,
    real_only=True,
    doc="The medians along `dim`, and where they are.",
    without_data="fewer",
)
nanmedian = selection(
    "nanmedian(Tensor self) -> Tensor",
    raw_sort.nanmedian,
    self=_evenly,
    real_only=True,
    doc="The median of the elements that aren't NaN.",
    kernel="median_cpu",
)
nanmedian_dim = selection(
    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    raw_sort.nanmedian_along,
    self=_at_index,
    differentiable_out=(True, False),
    samples=_pair_samples,
    real_only=True,
    doc="The medians along `dim` of the elements that aren't NaN, and where they are.",
)
mode = selection(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    raw_sort.mode,
    self=_at_index,
    differentiable_out=(True, False),
    samples=_pair_samples,
    real_only=True,
    doc="The most frequent elements along `dim`, and where they are.",
)
kthvalue = selection(
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
    "indices)",
    raw_sort.kthvalue,
    self=_at_index,
    differentiable_out=(True, False),
    samples=lambda mk: [(mk(3, 4), 2), (mk(3, 4), 1, 0, True)],
    real_only=True,
    out_rules=OutRules(apart=True),
    doc="The k-th smallest elements along `dim`, counted from 1, and where they are.",
)
