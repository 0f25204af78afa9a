"""Arrangement: repeated, flipped, rolled and turned copies, triangles, diagonals, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import dtypes as D, errors
from ..._base.device import on_meta
from ..._base.lazy import later
from ..._core.apply import apply1, apply_n, apply_view
from ..._core.storage import TensorBase, new_tensor
from ..calls import dtype_checks as _checks
from ..calls.conversions import integers
from ..rows import meta as _meta
from ..rows.composite import composite
from ..rows.row import general, linear
from ..rows.tensor_namespace import table
from .create import dtype_or_default, finish
from .scatter import index_select
from .shape import clone_contiguous, expand, reshape, unsqueeze, view

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import DeviceLike, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.shape.rearrange")

# ---- repeated ---------------------------------------------------------------------------------
repeat = linear(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    raw.repeat,
    self=lambda xp, g, self_shape, repeats: xp.repeat_backward(g, self_shape, repeats),
    holomorphic=False,
    public=False,
    method=True,
    out=False,
    lowering="repeat",
    samples=lambda mk: [(mk(2, 3), (2, 1)), (mk(3), (2, 2)), (mk(2), (0,)), (mk(), (3,))],
    doc="A copy repeated along every dimension.",
    narrow="all",
)
repeat_backward = linear(
    "repeat_backward(Tensor grad, int[] shape, int[] repeats) -> Tensor",
    raw.repeat_backward,
    grad=lambda xp, g, repeats: xp.repeat(g, repeats),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(4, 3), (2, 3), (2, 1))],
    doc="A gradient summed over repetitions.",
)


@composite("", method=True)
def tile(input: Tensor, *dims: Any) -> Tensor:
    """A copy repeated along its last dimensions."""
    if len(dims) == 1 and isinstance(dims[0], (list, tuple)):
        dims = tuple(dims[0])
    dims = integers(dims)
    lead = input._raw.ndim - len(dims)
    return apply_n(repeat.op, [input, (1,) * max(lead, 0) + dims])


@composite("", method=True, numpy_words=True)
def repeat_interleave(
    input: Any = None,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Any:
    """Every element (or every place of a dimension) repeated, one number for all or one each."""
    if repeats is None or input is None:
        return _repeated_places(input if repeats is None else repeats, None, output_size)
    if isinstance(repeats, int):
        return _repeat_evenly(input, repeats, dim, output_size)
    if not isinstance(repeats, TensorBase):
        repeats = table("tensor")(repeats)
    if repeats._raw.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if dim is None:
        input, dim = input if input._raw.ndim == 1 else reshape(input, (-1,)), 0
    if not input._raw.ndim:
        raise IndexError(errors.no_dimension(dim, 0))
    axis = axis_of(dim, input._raw.ndim)
    n = input._raw.shape[axis]
    count = repeats._raw.size
    if repeats._raw.ndim == 1 and count not in (1, n):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{count} and input.size({axis}) = {n}"
        )
    where = _repeated_places(repeats, n, output_size)
    return apply_n(index_select.op, [input, axis, where])


def _repeated_places(repeats: Tensor, size: int | None, output_size: int | None) -> Any:
    """The place k repeated repeats[k] times, for every k."""
    places = raw.repeated_places(repeats._raw, size)
    if output_size is not None and output_size != places.size and repeats._raw.size:
        if output_size < 0:
            raise RuntimeError(errors.negative_dimension([output_size]))
        raise RuntimeError("allocated size does not match required size")
    return new_tensor(places)


def _repeat_evenly(input: Tensor, repeats: int, dim: int | None, output_size: int | None) -> Any:
    if dim is None:
        input, dim = input if input._raw.ndim == 1 else reshape(input, (-1,)), 0
    shape = input._raw.shape or (1,)
    axis = axis_of(dim, len(shape))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if not input._raw.ndim:
        raise IndexError(errors.dimension(1, 0))
    if output_size is not None and output_size != shape[axis] * repeats:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {shape[axis] * repeats} but got "
            f"{output_size}"
        )
    wide = apply_view(unsqueeze.op, input, (axis + 1,))
    sizes = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    expanded = apply_view(expand.op, wide, (sizes, False))
    copied = apply1(clone_contiguous.op, expanded)
    return apply_view(
        view.op, copied, ((*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]),)
    )


# ---- moved ------------------------------------------------------------------------------------
flip = linear(
    "flip(Tensor self, int[] dims) -> Tensor",
    raw.flip,
    self=lambda xp, g, dims: xp.flip(g, dims),
    holomorphic=False,
    out=False,
    lowering="flip",
    samples=lambda mk: [(mk(2, 3), (1,)), (mk(2, 3), (0, -1)), (mk(), ())],
    doc="A copy with the order along some dimensions reversed.",
)


@composite("", method=True)
def fliplr(input: Tensor) -> Tensor:
    """A copy with the order along the second dimension reversed."""
    if input._raw.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return apply_n(flip.op, [input, (1,)])


@composite("", method=True)
def flipud(input: Tensor) -> Tensor:
    """A copy with the order along the first dimension reversed."""
    if input._raw.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return apply_n(flip.op, [input, (0,)])


roll = linear(
    "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    raw.roll,
    self=lambda xp, g, shifts, dims: xp.roll(g, tuple([-s for s in shifts]), dims),
    holomorphic=False,
    out=False,
    samples=lambda mk: [(mk(5), (2,)), (mk(3, 4), (1, -2), (0, 1))],
    doc="A copy with elements moved along dimensions; those past the end come in at the start.",
    narrow="all",
)
rot90 = linear(
    "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
    raw.rot90,
    self=lambda xp, g, k, dims: xp.rot90(g, -k, dims),
    holomorphic=False,
    out=False,
    samples=lambda mk: [(mk(2, 3),), (mk(2, 3, 4), 3, (2, 0))],
    doc="A copy turned by right angles, from the first of two dimensions to the second.",
    narrow="all",
)

# ---- triangles and diagonals --------------------------------------------------------------------
tril = linear(
    "tril(Tensor self, int diagonal=0) -> Tensor",
    raw.tril,
    self=lambda xp, g, diagonal: xp.tril(g, diagonal),
    holomorphic=False,
    inplace=True,
    samples=lambda mk: [(mk(3, 4),), (mk(2, 3, 3), -1)],
    doc="The lower triangles of matrices, zeros above.",
    narrow="complex32",
    kernel="tril",
)
triu = linear(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    raw.triu,
    self=lambda xp, g, diagonal: xp.triu(g, diagonal),
    holomorphic=False,
    inplace=True,
    samples=lambda mk: [(mk(3, 4),), (mk(2, 3, 3), 1)],
    doc="The upper triangles of matrices, zeros below.",
    narrow="complex32",
    kernel="triu",
)


@composite("")
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: D.dtype | None = D.int64,
    device: str | None = None,
    layout: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """The places of the lower triangle of a matrix: a row of rows and a row of columns."""
    nowhere = on_meta(device)
    made = finish(_triangle("tril_indices", row, col, offset, dtype, True), requires_grad)
    return _meta.strip_data(made) if nowhere else made


@composite("")
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = D.int64,
    device: DeviceLike | None = None,
    layout: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """The places of the upper triangle of a matrix: a row of rows and a row of columns."""
    nowhere = on_meta(device)
    made = finish(_triangle("triu_indices", row, col, offset, dtype, False), requires_grad)
    return _meta.strip_data(made) if nowhere else made


def _triangle(
    name: str, row: int, col: int, offset: int, dtype: D.dtype | None, lower: bool
) -> Array:
    dtype = D.int64 if dtype is None else dtype_or_default(dtype)
    made = raw.triangle_places(row, col, offset, dtype, lower)
    if dtype.category == D.INT and dtype is not D.int64 and dtype is not D.int32:
        raise NotImplementedError(errors.not_implemented(name, D.scalar_name(dtype)))
    return made


diag_embed = linear(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    raw.diag_embed,
    self=lambda xp, g, offset, dim1, dim2: xp.diagonal(g, offset, dim1, dim2),
    holomorphic=False,
    out=False,
    samples=lambda mk: [(mk(3),), (mk(2, 3), 1), (mk(2, 3), -1, 0, 2)],
    doc="Matrices with the last dimension on a diagonal, zeros elsewhere.",
    narrow="all",
)


@composite("", method=True, out=True)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    ndim = input._raw.ndim
    if ndim == 1:
        return apply_n(diag_embed.op, [input, diagonal, -2, -1])
    if ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return table("diagonal_copy")(input, diagonal, 0, 1)


@composite("", method=True)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements on a diagonal."""
    return apply_n(diag_embed.op, [reshape(input, (-1,)), offset, -2, -1])


trace = linear(
    "trace(Tensor self) -> Tensor",
    raw.trace,
    check=_checks.takes("trace", "ifc"),
    self=lambda xp, g, self_shape: xp.diagonal_backward(
        xp.broadcast_to(g, (min(self_shape),)), self_shape, 0, 0, 1
    ),
    holomorphic=False,
    out=False,
    samples=lambda mk: [(mk(3, 4),), (mk(2, 2),)],
    doc="The sum of the diagonal of a matrix.",
    kernel="trace",
)


# ---- padded, summed ---------------------------------------------------------------------------
def _pad_backward(xp: ModuleType, g: TensorLike, pad: tuple[int, ...]) -> TensorLike:
    return xp.constant_pad_nd(g, tuple([-n for n in pad]), 0)


constant_pad_nd = general(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    raw.constant_pad,
    self=lambda xp, g, pad: _pad_backward(xp, g, pad),
    holomorphic=False,
    method=False,
    out=False,
    lowering="constant_pad_nd",
    samples=lambda mk: [(mk(2, 3), (1, 2)), (mk(2, 3), (1, -1, 0, 2), 5.0)],
    doc="A copy with one value around it; negative widths cut off.",
    narrow="all",
)


@composite("private", method=True)
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum over the dimensions along which `size` broadcasts to the tensor's shape."""
    wanted = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    if not wanted:
        return table("sum")(self)
    dims = raw.sum_dims(self._raw.shape, wanted)
    if not dims:
        return self
    total = table("sum")(self, dims, True)
    lead = self._raw.ndim - len(wanted)
    return apply_view(view.op, total, (wanted,)) if lead else total


@composite("")
def unravel_index(indices: Tensor, shape: Shape) -> tuple[Tensor, ...]:
    """The index in every dimension of the elements at flat places."""
    if indices.is_complex() or indices._raw.dtype.kind not in "iu":
        raise TypeError(
            f"expected 'indices' to be integer dtype, but got {T.from_raw(indices._raw.dtype)}"
        )
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(
            f"expected 'shape' to be int or sequence of ints, but got {errors.class_text(shape)}"
        )
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(
                f"expected 'shape' sequence to only contain ints, but got {errors.class_text(n)}"
            )
        if n >= 2**63:
            raise ValueError(errors.LONG)
    if not sizes:
        return ()
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    if 0 in sizes and indices._raw.size:
        raise RuntimeError("ZeroDivisionError")
    places = indices._raw.astype("int64")
    stacked = table("stack")([new_tensor(x) for x in raw.unravel(places, sizes)], -1)
    return table("unbind")(stacked, -1)
