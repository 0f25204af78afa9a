"""Parts of tensors: places and slices of dimensions, diagonals, windows; views, and their
gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.shape import as_strided as windows, strided, views as raw
from ..._core.apply import apply_view
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..._core.views import REGENERATE
from ..rows.composite import composite
from ..rows.row import linear

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

# ---- windows and parts ------------------------------------------------------------------------
select = linear(
    "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
    raw.select,
    self=lambda xp, g, self_shape, dim, index: xp.select_backward(g, self_shape, dim, index),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 4), 0, 1), (mk(3, 4), -1, -2), (mk(3), 0, 0)],
    doc="The part at one place of a dimension.",
)
slice_ = linear(
    "slice(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    raw.slice_,
    self=lambda xp, g, self_shape, dim, start, end, step: xp.slice_backward(
        g, self_shape, dim, start, end, step
    ),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(5, 4), 0, 1, 4, 2), (mk(3, 4), -1, None, -1)],
    doc="The part between two places of a dimension.",
)
diagonal = linear(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    windows.diagonal,
    self=lambda xp, g, self_shape, offset, dim1, dim2: xp.diagonal_backward(
        g, self_shape, offset, dim1, dim2
    ),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 4),), (mk(3, 4), 1), (mk(2, 3, 4), -1, 2, 0)],
    doc="The diagonal of two dimensions, as the last dimension.",
)
unfold = linear(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    windows.unfold,
    self=lambda xp, g, self_shape, dimension, size, step: xp.unfold_backward(
        g, self_shape, dimension, size, step
    ),
    holomorphic=False,
    public=False,
    method=True,
    samples=lambda mk: [(mk(7), 0, 3, 2), (mk(2, 5), -1, 2, 1)],
    doc="All windows of a size along a dimension, as a new last dimension.",
)
as_strided_ = linear(
    "_as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset, int[] self_stride, "
    "int self_offset) -> Tensor(a)",
    windows.as_strided,
    self=lambda xp, g, self_shape, size, stride, storage_offset, self_stride, self_offset: (
        xp.as_strided_backward(
            g, self_shape, self_stride, self_offset, size, stride, storage_offset
        )
    ),
    holomorphic=False,
    public=False,
    lowering="as_strided",
    samples=lambda mk: [
        (mk(6), (2, 3), (1, 2), None, (1,), 0),
        (mk(2, 3), (3,), (1,), 1, (3, 1), 0),
    ],
    doc="A window of any strides over the memory that the tensor is part of.",
)
REGENERATE.row = as_strided_


@composite("", method=True)
def as_strided(
    input: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Tensor:
    """A window of any strides over the memory that the tensor is part of.

    Raises:
        RuntimeError: for a window that leaves the memory.
    """
    return apply_view(as_strided_.op, input, strided_arguments(input, size, stride, storage_offset))


def strided_arguments(
    t_: Tensor, size: Shape, stride: Shape, offset: int | None
) -> tuple[Any, ...]:
    """The arguments of `_as_strided`: those given, and the tensor's own geometry."""
    array = t_._raw
    if len(size) > 64:
        raise RuntimeError("only tensors with up to 64 dims are supported")
    return (
        tuple(size),
        tuple(stride),
        offset,
        windows.element_strides(array),
        windows.storage_offset(array),
    )


@composite("", method=True, numpy_words=True)
def narrow(input: Tensor, dim: int, start: Tensor | int, length: int) -> Tensor:
    """`length` places of a dimension from `start` on."""
    if bool in (type(dim), type(start), type(length)):
        raise TypeError("a bool is no place")  # told in the words of the signatures
    if isinstance(start, TensorBase):
        if start._raw.ndim or start._raw.dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = int(read_by_python(start, "narrow()").item())
    axis, first = raw.narrow_bounds(input._raw, dim, start, length)
    return apply_view(slice_.op, input, (axis, first, first + length, 1))


view_as_real = linear(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    windows.view_as_real,
    self=lambda xp, g: xp.view_as_complex(xp.contiguous(g)),
    holomorphic=False,
    method=False,
    dtypes="complex",
    doc="A complex tensor as a real one with a last dimension of real and imaginary part.",
)
view_as_complex = linear(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    windows.view_as_complex,
    self=lambda xp, g: xp.view_as_real(xp.contiguous(g)),
    holomorphic=False,
    method=False,
    dtypes="float",
    samples=lambda mk: [(mk(3, 2),)],
    doc="A real tensor whose last dimension holds real and imaginary parts as a complex one.",
)


@composite("", method=True)
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugation is never delayed here."""
    return input


@composite("", method=True)
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negation is never delayed here."""
    return input


# ---- gradients of parts, themselves differentiable ----------------------------------------------
select_backward = linear(
    "select_backward(Tensor grad, int[] input_sizes, int dim, int index) -> Tensor",
    raw.select_backward,
    grad=lambda xp, g, dim, index: xp.select(g, dim, index),
    holomorphic=False,
    namespace="private",
    lowering="select_backward",
    samples=lambda mk: [(mk(4), (3, 4), 0, 1)],
    doc="A gradient at its place in zeros.",
    narrow="all",
)
slice_backward = linear(
    "slice_backward(Tensor grad, int[] input_sizes, int dim, int? start, int? end, int step) -> "
    "Tensor",
    raw.slice_backward,
    grad=lambda xp, g, dim, start, end, step: xp.slice(g, dim, start, end, step),
    holomorphic=False,
    namespace="private",
    lowering="slice_backward",
    samples=lambda mk: [(mk(2, 4), (3, 4), 0, 0, 3, 2)],
    doc="A gradient at its place in zeros.",
    narrow="all",
)
diagonal_backward = linear(
    "diagonal_backward(Tensor grad, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    windows.diagonal_backward,
    grad=lambda xp, g, offset, dim1, dim2: xp.diagonal(g, offset, dim1, dim2),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(3), (3, 4), 0, 0, 1)],
    doc="A gradient on the diagonal of zeros.",
    narrow="all",
)
unfold_backward = linear(
    "unfold_backward(Tensor grad, int[] input_sizes, int dim, int size, int step) -> Tensor",
    windows.unfold_backward,
    grad=lambda xp, g, dim, size, step: xp.unfold(g, dim, size, step),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(3, 3), (7,), 0, 3, 2)],
    doc="The sum of windows, each at its place.",
    narrow="all",
)


as_strided_backward = linear(
    "as_strided_backward(Tensor grad, int[] shape, int[] self_stride, int self_offset, "
    "int[] size, int[] stride, int? storage_offset) -> Tensor",
    strided.as_strided_backward,
    grad=lambda xp, g, self_stride, self_offset, size, stride, storage_offset: xp.as_strided_values(
        g, self_stride, self_offset, size, stride, storage_offset
    ),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(3), (2, 3), (3, 1), 0, (3,), (1,), 1)],
    doc="The gradient of a tensor, given that of a window over the same memory.",
)
as_strided_values = linear(
    "as_strided_values(Tensor self, int[] self_stride, int self_offset, int[] size, "
    "int[] stride, int? storage_offset) -> Tensor",
    strided.as_strided_values,
    self=lambda xp, g, self_shape, self_stride, self_offset, size, stride, storage_offset: (
        xp.as_strided_backward(
            g, self_shape, self_stride, self_offset, size, stride, storage_offset
        )
    ),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(2, 3), (3, 1), 0, (3,), (1,), 1)],
    doc="The values in a window over memory into which a tensor is laid.",
    narrow="all",
)
