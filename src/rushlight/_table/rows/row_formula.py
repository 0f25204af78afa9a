"""Formulas along rows: what reduces each row of an array and goes on, as softmax does.

    softmax = general(
        "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
        row_formula(lambda self, dim: …, prepare=…),
        self=row_formula(lambda g, out, dim: …),
    )

`_array.reduce.generated_rows` makes of a formula what computes on arrays, what records, kernels.
A norm has several results, and vectors that lie along rows: see `_array.reduce.generated_norms`.

    layer_norm = general(
        "native_layer_norm(Tensor input, int[] normalized_shape, …) -> (…, Tensor mean, …)",
        norm_formula(_norm), joint=norm_formula(_gradients, again=_norm, by_row=("mean",)),
    )
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._base.lazy import Function
from ..._base.schema import Schema
from ..._formula.words import Formula, Word

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class RowFormula(Formula):
    """A formula along rows, or of the gradient of one.

    Its `override` computes the same of large arrays along a dimension that isn't the last one,
    measurably faster, or gives None: of the dimension and the arrays.
    """

    __slots__ = ("by_row", "empty", "of_block", "prepare")

    #: The operand in its final type, of all arguments; refuses what isn't legal.
    prepare: Callable[..., Any] | None
    #: Writes the same of a block of rows in order, measurably faster: of `out` and the arrays.
    of_block: Any
    #: Operands that have a number for each row: their shape is that of a reduction.
    by_row: tuple[str, ...]
    #: What rows without elements are reduced to.
    empty: float

    def generate(self, name: str, key: str, schema: Schema) -> Any:
        """The function on arrays: the operation, or its gradient for the argument `key`."""
        from ..._array.reduce.generated_rows import generate_rows

        if type(self.override) is Function:
            self.override = self.override.find()
        if type(self.of_block) is Function:
            self.of_block = self.of_block.find()
        return generate_rows(name, self, schema, bool(key))


def row_formula(
    function: Word,
    *,
    prepare: AnyCallable | None = None,
    override: Any = None,
    of_block: Any = None,
    by_row: tuple[str, ...] = (),
    empty: float = 0.0,
) -> Any:
    """Says that a row's function is in the vocabulary, along rows that lie in dimension `dim`."""
    made = RowFormula(function, override)
    made.prepare, made.of_block, made.by_row, made.empty = prepare, of_block, by_row, empty
    return made


class NormFormula(Formula):
    """A formula of a norm along the last dimensions, or of the gradients of one."""

    __slots__ = ("again", "by_column", "by_row", "prepare")

    #: Refuses arguments that aren't legal.
    prepare: Callable[..., None] | None
    #: The formula of the results, of which gradients are taken that read some of them.
    again: Word | None
    #: Operands that have a number for each row.
    by_row: tuple[str, ...]
    #: Operands that lie along the rows.
    by_column: tuple[str, ...]

    def generate(self, name: str, key: str, schema: Schema) -> Any:
        """The function on arrays: the operation, or its gradients."""
        from ..._array.reduce.generated_norms import generate_norm

        return generate_norm(name, self, schema)


def norm_formula(
    function: Word,
    *,
    prepare: Callable[..., None] | None = None,
    again: Word | None = None,
    by_row: tuple[str, ...] = (),
    by_column: tuple[str, ...] = ("weight", "bias"),
) -> Any:
    """Says that a row's norm is in the vocabulary, along its input's last dimensions."""
    made = NormFormula(function, None)
    made.prepare, made.again, made.by_row, made.by_column = prepare, again, by_row, by_column
    return made
