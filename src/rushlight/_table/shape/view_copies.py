"""The `*_copy` variants of view operations: the same part or order, as a copy of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array.shape import views as shapes
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..rows.composite import composite
from ..rows.out_rules import OutRules
from ..rows.row import Row, general, linear
from .permute import permute, t, transpose
from .shape import alias, expand, squeeze, squeeze_dim, squeeze_dims, unsqueeze, view
from .slices import (
    as_strided_,
    diagonal,
    select,
    slice_,
    strided_arguments,
    unfold,
    view_as_complex,
    view_as_real,
)
from .split import split_, split_with_sizes, unbind

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Shape
    from ..._tensor.tensor import Tensor

joins = later("_array.shape.concatenate")


def copy_of(row: Row, silent: str = "") -> Row:
    """The row of the copying variant of a view operation; `silent` as in `OutRules`."""
    _, _, rest = row.text.replace("Tensor(a)", "Tensor").partition("(")
    name = row.name + "_copy"
    return linear(
        f"{name}.{row.overload}({rest}" if row.overload else f"{name}({rest}",
        _make_copying(row.raw, bool(silent)),
        holomorphic=False,
        method=False,
        out=True,
        out_rules=OutRules(silent=silent),
        public=row not in (as_strided_, view_as_complex),
        real_only=row in (select, slice_),
        samples=row.samples,
        dtypes=row.dtypes,
        doc=f"{row.doc[:-1]}, as a copy.",
        node=f"{row.node}_copy",
        lowering=row.lowering,
        narrow="all",
        **row.formulas,
    )


def _make_copying(forward: AnyCallable, several: bool) -> AnyCallable:
    if several:
        return lambda *args: joins.copies(forward(*args))
    return lambda *args: shapes.contiguous_copy(forward(*args))


for _row in (
    alias, view, expand, permute, transpose, t, squeeze, squeeze_dim, squeeze_dims, unsqueeze,
    select,
    slice_, diagonal, unfold, view_as_real,
):  # fmt: skip
    copy_of(_row)
copy_of(split_, "split_copy_Tensor_out()")
copy_of(split_with_sizes, "split_with_sizes_copy_out")
copy_of(unbind, "unbind_copy_int_out")
_as_strided_copy = copy_of(as_strided_)
_complex_copy = copy_of(view_as_complex)
general(
    "view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor",
    lambda x, dtype: shapes.contiguous_copy(shapes.view_dtype(x, dtype)),
    method=False,
    refuses_values="any",
    samples=lambda mk: [(mk(2, 3, dtype="float64"), D.int64)],
    doc="The memory read as another element type, as a copy.",
)

narrow_copy = linear(
    "narrow_copy(Tensor self, int dim, int start, int length) -> Tensor",
    lambda x, dim, start, length: shapes.narrow_copy(x, dim, start, length),
    self=lambda xp, g, self_shape, dim, start, length: xp.slice_backward(
        g, self_shape, dim, start, start + length, 1
    ),
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), 0, 1, 3)],
    doc="A copy of `length` places of a dimension from `start` on.",
    narrow="all",
)


@composite("", out=True)
def as_strided_copy(
    input: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Tensor:
    """A copy of a window of any strides over the memory that the tensor is part of."""
    return apply_n(
        _as_strided_copy.op, [input, *strided_arguments(input, size, stride, storage_offset)]
    )


@composite("", out=True)
def view_as_complex_copy(input: Tensor) -> Tensor:
    """Pairs of reals read as complex numbers, as a copy.

    Raises:
        RuntimeError: where the result would require grad.
    """
    result: Tensor = apply_n(_complex_copy.op, [input])
    if result.requires_grad:
        raise RuntimeError(errors.real_only("view_as_complex_copy"))
    return result
