"""What is refused of writes at computed places, in PyTorch's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._base import dtypes as D, errors
from ..axes import axis_of
from ..number import number_like
from ..types import from_raw
from .gather import wrong_place

if TYPE_CHECKING:
    from ..._base.annotations import Shape, TensorLike
    from ..annotations import Array


def kind_of(x: TensorLike) -> str:
    return D.scalar_name(from_raw(x.dtype))


def is_integer_index(array: Array) -> bool:
    return bool(array.dtype.kind == "i" and array.itemsize >= 4)


def check_add(x: Array, axis: int, index: Array, source: Array, name: str) -> None:
    if index.ndim > 1:
        raise IndexError(
            f"{name}: Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{kind_of(index)} and size: {errors.shape_text(index.shape)}"
        )
    if not is_integer_index(index):
        raise RuntimeError(
            f"{name}: Expected dtype int32/int64 for index but got: {kind_of(index)}"
        )
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: self ({kind_of(x)}) and source ({kind_of(source)}) must have the same "
            "scalar type"
        )
    if axis and axis >= source.ndim:
        raise RuntimeError(
            f"{name}: Indexing dim {axis} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    if not source.ndim and index.size != 1:
        raise IndexError(errors.no_dimension(0, 0))
    have = source.shape[axis] if source.ndim else 1
    if index.size != have:
        raise RuntimeError(
            f"{name}: Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({have}), for dim: {axis}"
        )
    if source.ndim != x.ndim or _without(source.shape, axis) != _without(x.shape, axis):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified "
            "dimension. Got "
            f"self.shape = {errors.shape_text(x.shape)} source.shape = "
            f"{errors.shape_text(source.shape)}"
        )
    n = x.shape[axis] if x.ndim else 1
    if x.ndim > 1 and name == "index_add_()":
        if x.size:
            check_inside(index, n, axis, RuntimeError)
    elif wrong_place(index, n) is not None:
        raise IndexError("index out of range in self")


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape of a slice."""
    return shape[:axis] + shape[axis + 1 :]


def check_inside(
    index: Array, n: int, axis: int, error: type, lead: str = "", negative: bool = False
) -> None:
    wrong = wrong_place(index, n)
    if wrong is not None and negative:
        outside = index[(index < -n) | (index >= n)].reshape(-1)
        wrong = int(outside[0]) if outside.size else None
    if wrong is not None:
        raise error(f"{lead}index {wrong} is out of bounds for dimension {axis} with size {n}")


def check_copy(x: Array, axis: int, index: Array, source: Array) -> None:
    if index.ndim > 1:
        raise IndexError("index_copy_(): Index should have dimension 1 or 0 (got "
                         f"{index.ndim})")  # fmt: skip
    if source.ndim == 0 and index.size != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element (got "
            f"{index.size})"
        )
    if source.ndim and x.ndim and source.ndim != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            "must match. "
            f"Source dimensionality ({source.ndim}), destination dimensionality ({x.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {kind_of(index)}"
        )
    if x.dtype != source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{kind_of(x)} "
            f"and (source) {kind_of(source)}"
        )
    there, here = _without(x.shape, axis), _without(source.shape, axis)
    if there != here:
        shown = [" ".join(map(str, shape)) for shape in (there, here)]
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {shown[0]} at dimension {axis} and source slice shape: {shown[1]} at "
            "dimension 0."
        )
    if source.ndim and index.size != source.shape[axis]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({source.shape[axis]})"
        )
    if x.size or x.ndim < 2:
        check_inside(index, x.shape[axis] if x.ndim else 1, axis, IndexError, "index_copy_(): ")


def check_fill(x: Array, dim: int, index: Array, value: Array | float) -> tuple[int, Array | float]:
    """The axis, and the value as `x` takes it."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if x.dtype.kind != "c" and (
        type(value) is complex or (isinstance(value, np.ndarray) and value.dtype.kind == "c")
    ):
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    axis = axis_of(dim, x.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not isinstance(value, np.ndarray):
        value = number_like(value, x.dtype)
    if x.size or x.ndim < 2:
        n = x.shape[axis] if x.ndim else 1
        check_inside(index, n, axis, IndexError, negative=True)
    return axis, value


def check_index(
    x: Array,
    axis: int,
    index: Array,
    source: Array | None,
    name: str = "scatter",
    self_name: str = "self",
    wrong_size: str = "Expected",
) -> None:
    if index.size == 0:
        return
    if not is_integer_index(index):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if (index.ndim or 1) != (x.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {self_name} tensor"
        )
    shape, limit = index.shape or (1,), x.shape or (1,)
    if source is None:
        for d, (n, m) in enumerate(zip(shape, limit)):
            if d != axis and n > m:
                raise RuntimeError(
                    f"{wrong_size.format(d)} index {errors.shape_text(index.shape)} to be no "
                    f"larger than self {errors.shape_text(x.shape)} apart from dimension {axis}"
                )
        return
    if (source.ndim or 1) != len(shape):
        _compare_sizes(axis, shape, limit, source)
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for d, (n, m, k) in enumerate(zip(shape, limit, source.shape or (1,))):
        if (d != axis and n > m) or n > k:
            raise RuntimeError(
                f"Expected index {errors.shape_text(index.shape)} to be no larger than self "
                f"{errors.shape_text(x.shape)} apart from dimension {axis} and to be no larger "
                "size than "
                f"src {errors.shape_text(source.shape)}"
            )


def _compare_sizes(axis: int, index: Shape, limit: Shape, source: Array) -> None:
    """Refuses a source with fewer dimensions than the index, where its sizes are asked for.

    Raises:
        IndexError: for the first dimension that it hasn't, unless a size before that is too small.
    """
    if any(d != axis and n > m for d, (n, m) in enumerate(zip(index, limit))):
        return
    for d, n in enumerate(index):
        if source.ndim and d >= source.ndim:
            raise IndexError(errors.dimension(d, source.ndim))
        if n > (source.shape[d] if source.ndim else 1):
            return


def check_scatter(x: Array, axis: int, index: Array, source: Array) -> None:
    """Refuses what isn't written with a source: types before sizes."""
    if index.size and not is_integer_index(index):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if x.dtype != source.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    check_index(x, axis, index, source)
