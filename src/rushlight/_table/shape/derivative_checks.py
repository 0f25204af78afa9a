"""The rows that PyTorch has to check derivatives with: copies and a view whose gradients, or what
is said of them, can be told from those of ordinary ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array.shape import views as raw
from ..rows.row import general, linear
from ..rows.warn_once import warn_the_caller
from .view_copies import copy_of

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike

general(
    "_test_autograd_multiple_dispatch.fullcoverage(Tensor self) -> Tensor",
    raw.clone,
    self=lambda xp, g, self_shape: xp.expand(g, self_shape) + 1,
    jvp=lambda self_t: self_t,
    out=False,
    samples=lambda mk: [(mk(2, 3, dtype="int64"),)],
    doc="A copy, whose gradient is one more than that of a copy.",
)
linear(
    "_test_autograd_multiple_dispatch.ntonly(Tensor self, bool b) -> Tensor",
    lambda x, b: raw.clone(x),
    self=lambda g: g,
    node="CloneBackward0",
    holomorphic=False,
    out=False,
    samples=lambda mk: [(mk(2, 3), True)],
    doc="A copy.",
)
_flat = general(
    "_test_autograd_multiple_dispatch_view(Tensor(a) self) -> Tensor(a)",
    lambda x: raw.view(x, (-1,)),
    self=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    samples=lambda mk: [(mk(2, 3),)],
    doc="All elements in one dimension, as a view.",
)
copy_of(_flat)


def _warn(g: TensorLike) -> TensorLike:
    warn_the_caller("Warn from backward")
    return g


general(
    "_test_warn_in_autograd(Tensor self) -> Tensor",
    raw.clone,
    self=_warn,
    namespace="private",
    samples=lambda mk: [(mk(2, 3, dtype="int64"),)],
    doc="A copy, whose gradient comes with a warning.",
)
