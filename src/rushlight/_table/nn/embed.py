"""Embeddings: rows of a table by index, bags of rows, one-hot vectors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, bump, new_tensor
from ..calls.argument_parser import complaint_of_c, in_words_of
from ..rows import tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import Row, general, linear

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Shape
    from ..._tensor.tensor import Tensor

gather = later("_array.shape.gather")
raw = later("_array.nn.embedding")
sparse_rows = later("_array.shape.sparse_gradient")

# ---- embedding --------------------------------------------------------------------------------


def _rows_added(
    g: Any, index: Tensor, rows: int, padding_idx: int, scale_by_frequency: bool
) -> Any:
    """The rows of `g` added at `index`, in operations that are recorded."""
    flat = index.reshape(-1)
    g = g.reshape(flat.shape[0], g.shape[-1])
    if padding_idx >= 0:
        g = g * (flat != padding_idx).to(g.dtype).unsqueeze(1)
    if scale_by_frequency:
        g = g / flat.bincount(minlength=rows)[flat].to(g.dtype).unsqueeze(1)
    return (g.detach()[:1].sum() * 0).expand(rows, g.shape[1]).index_add(0, flat, g)


def _table_gradient(
    g: Any, indices: Any, weight_shape: Shape, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    return _rows_added(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)


_embedding = linear(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    raw.embedding,
    weight=record_gradient(_table_gradient, override=raw.embedding_gradient),
    real_only="embedding",
    out=False,
    saved_as={"weight_shape": None},
    refuses_values="any",
    lowering="embedding",
    samples=lambda mk: [(mk(5, 3), mk(2, 2, low=0, high=5, integer=True))],
    doc="The rows of `weight` that `indices` name.",
    narrow="all",
)


def _sparse_table_gradient(
    g: Any, indices: Any, weight_shape: Shape, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    sparse_rows.refuse_frequencies(scale_grad_by_freq)
    return _rows_added(g, indices, weight_shape[0], padding_idx, False)


_sparse_embedding = linear(
    "_sparse_embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=True) -> Tensor",
    raw.embedding,
    weight=record_gradient(_sparse_table_gradient, override=sparse_rows.rows_gradient),
    real_only="embedding",
    node="EmbeddingBackward0",
    public=False,
    out=False,
    saved_as={"weight_shape": None},
    refuses_values="any",
    samples=lambda mk: [(mk(5, 3), mk(2, 2, low=0, high=5, integer=True))],
    doc="The rows of `weight` that `indices` name; its gradient has these rows only.",
)


@composite("nn.functional")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of the table `weight` that `input` names.

    The row `padding_idx` gets no gradient. With `max_norm`, rows that are read are first scaled
    down to that norm, in place. `scale_grad_by_freq` divides a row's gradient by how often it was
    read.
    Shapes: input any shape (*) of int64 or int32, weight (V, D); the result (*, D).
    With `sparse` the gradient of the table is a sparse tensor of the rows that were read.
    Raises: IndexError for an index that is no row.
    """
    place = -1 if padding_idx is None else _row_of(weight, padding_idx)
    try:
        if max_norm is not None:
            _check_most(weight, input, max_norm, norm_type)
            raw.require_indices(input._raw, "embedding")
            rows_used = read_by_python(input, "max_norm")
            raw.renormalise(weight._raw, rows_used, float(max_norm), float(norm_type))
            bump(weight)
        if type(place) is not int or type(scale_grad_by_freq) is not bool:
            problem = complaint_of_c(
                "torch", "embedding", (weight, input, place, scale_grad_by_freq, sparse), {}
            )
            if problem is not None:
                raise problem
            place = int(place)
        row = _sparse_embedding if sparse and weight._requires_grad else _embedding
        return apply_n(row.op, [weight, input, place, scale_grad_by_freq, sparse])
    except Exception as error:
        values = weight, input, place, scale_grad_by_freq, sparse
        raise in_words_of("embedding", values, error) from None


def _check_most(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Refuses what is no norm, in PyTorch's words."""
    problem = complaint_of_c("torch", "embedding_renorm_", (weight, input, max_norm, norm_type), {})
    if problem is not None:
        raise problem


def _row_of(weight: Tensor, padding_idx: int) -> int:
    inside = True
    if padding_idx > 0:
        inside = padding_idx < weight.size(0)
    elif padding_idx < 0:
        inside = padding_idx >= -weight.size(0)
    if not inside:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return weight.size(0) + padding_idx if padding_idx < 0 else padding_idx


# ---- bags -------------------------------------------------------------------------------------


def _bag_gradient(
    g: Tensor,
    weight_shape: Shape,
    indices: Tensor,
    offsets: Tensor,
    mode: int,
    per_sample_weights: Any,
    include_last_offset: bool,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Any:
    """The gradient for the table in operations that are recorded, for sums and means."""
    starts, lengths = raw.bag_lengths_of(
        g._raw.dtype, mode, padding_idx, indices._raw, offsets._raw, include_last_offset
    )
    bags = _traced.constant(raw.bag_numbers(lengths))
    used = indices[: bags.shape[0]]
    counted = (used != padding_idx).to(g.dtype)
    rows = g[bags] * counted.unsqueeze(1)
    if mode == 1:
        counts = (counted.detach()[:1].sum() * 0).expand(len(starts)).index_add(0, bags, counted)
        rows = rows / counts.clamp(min=1)[bags].unsqueeze(1)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[: bags.shape[0]].unsqueeze(1)
    return _rows_added(rows, used, weight_shape[0], -1, scale_grad_by_freq)


def _max_bag_gradient(
    g: Tensor, weight: Tensor, indices: Tensor, offsets: Tensor, include_last_offset: bool,
    padding_idx: int,
) -> NoReturn:  # fmt: skip
    raise RuntimeError("derivative for embedding_bag_backward with mode 'max' is not implemented")


def _bag_weight_gradient(
    g: Any, weight: Tensor, indices: Any, offsets: Any, include_last_offset: bool, padding_idx: int
) -> Any:
    _, lengths = raw.bag_lengths_of(
        weight._raw.dtype, 0, padding_idx, indices._raw, offsets._raw, include_last_offset
    )
    bags = _traced.constant(raw.bag_numbers(lengths))
    used = indices[: bags.shape[0]]
    return (weight[used] * g[bags]).sum(1) * (used != padding_idx).to(g.dtype)


def _bags(name: str, sparse: bool, gradient: Any, modes: tuple[int, ...], doc: str) -> Row:
    """A row that looks up bags; `gradient` is the table's."""
    return general(
        f"{name}(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
        f"int mode=0, bool sparse={sparse}, Tensor? per_sample_weights=None, bool "
        "include_last_offset=False, int padding_idx=-1) -> Tensor",
        lambda weight, indices, offsets, scale, mode, sparse, scales, last, padding: (
            raw.embedding_bag(weight, indices, offsets, mode, scales, last, padding)
        ),
        weight=gradient,
        per_sample_weights=record_gradient(
            _bag_weight_gradient, override=raw.embedding_bag_weights
        ),
        node="EmbeddingBagBackward0",
        public=False,
        out=False,
        dtypes="float",
        samples=lambda mk: [
            (mk(5, 3), mk(6, high=5, integer=True), mk(1, high=1, integer=True), False, mode)
            for mode in modes
        ],
        refuses_values="any",
        doc=doc,
    )


_bag = _bags(
    "_embedding_bag", False,
    record_gradient(_bag_gradient, override=raw.embedding_bag_backward), (0, 1),
    "The sums or means of bags of rows.",
)  # fmt: skip
_sparse_bag = _bags(
    "_sparse_embedding_bag", True,
    record_gradient(_bag_gradient, override=raw.embedding_bag_rows), (0, 1),
    "The sums or means of bags of rows; the table's gradient has the rows that were read.",
)  # fmt: skip
_max_bag = _bags(
    "_max_embedding_bag", False,
    record_gradient(_max_bag_gradient, override=raw.max_bag_backward), (2,),
    "The maxima of bags of rows.",
)  # fmt: skip
_MODES = {"sum": 0, "mean": 1, "max": 2}


def _bag_row(weight: Tensor, mode: int, sparse: bool) -> Row:
    if mode == 2:
        return _max_bag
    return _sparse_bag if sparse and weight._requires_grad else _bag


@composite("nn.functional")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of each bag of indices.

    Shapes: input (B, L): B bags of L indices; or (N,) with offsets (B,), where the bags begin.
    Raises: ValueError, RuntimeError for arguments that don't fit together.
    """
    if weight.dtype is D.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, "
            "input, ...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, "
            "then it "
            f"must have the same shape as the input ({input.shape})"
        )
    if not weight.dim() == 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    if input.dim() == 2:
        include_last_offset = False  # the rows are the bags
    input, offsets, per_sample_weights = _as_bags(input, offsets, per_sample_weights)
    number = _MODES.get(mode)
    if number is None:
        raise ValueError("mode has to be one of sum, mean or max")
    if max_norm is not None:
        _check_most(weight, input, max_norm, norm_type)
        raw.require_indices(input._raw, "embedding_bag")
        rows_used = read_by_python(input, "max_norm")
        raw.renormalise(weight._raw, rows_used, float(max_norm), float(norm_type))
        bump(weight)
    if number == 2 and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if number == 2 and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and number != 0:
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
            "supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    if padding_idx is None:
        padding_idx = -1
    else:
        if type(padding_idx) is not int:
            values = weight, input, offsets, False, number, False, None, False, padding_idx
            problem = complaint_of_c("torch", "embedding_bag", values, {})
            if problem is not None:
                raise problem
            padding_idx = int(padding_idx)
        padding_idx = _row_of_padding(weight, padding_idx)
    if weight._raw.dtype.kind != "f":
        raw.require_indices(input._raw, "embedding_bag")
        raw.require_weight(weight._raw)
    row = _bag_row(weight, number, sparse)
    return apply_n(row.op, [weight, input, offsets, scale_grad_by_freq, number, sparse,
                            per_sample_weights, include_last_offset, padding_idx])  # fmt: skip


@composite("", name="embedding_bag")
def embedding_bag_operator(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: object = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The bags of `nn.functional.embedding_bag`, and what says where they come from.

    Mode 0 sums, 1 averages, 2 takes maxima. The further results, of whole numbers: the bag of each
    index; how many indices count in each bag; for maxima the rows that they come from. Sums have
    none of these.
    Raises: RuntimeError for arguments that don't fit together.
    """
    padding = -1 if padding_idx is None else _row_of_padding(weight, padding_idx)
    _check_bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset)
    indices = indices.reshape(-1).to(D.promote_types(indices.dtype, offsets.dtype))
    row = _bag_row(weight, mode, sparse)
    out = apply_n(row.op, [weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                           per_sample_weights, include_last_offset, padding])  # fmt: skip
    found = raw.bag_places(
        weight._raw, indices._raw, offsets._raw, mode, include_last_offset, padding
    )
    return (out, *[new_tensor(array) for array in found])


@composite("", name="_embedding_bag")
def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: object = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`embedding_bag` of operators, where -1 says that no row is padding."""
    return embedding_bag_operator(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, None if padding_idx < 0 else padding_idx,
    )  # fmt: skip


def _without_derivatives(function: AnyCallable) -> AnyCallable:
    def forward_only(weight: Tensor, *rest: object, **named: object) -> tuple[Tensor, ...]:
        """`_embedding_bag`, without derivatives."""
        return function(weight.detach(), *rest, **named)

    return forward_only


composite("", name="_embedding_bag_forward_only")(_without_derivatives(_embedding_bag))


def _row_of_padding(weight: Tensor, padding_idx: int) -> int:
    if not weight.dim():
        raise IndexError(errors.no_dimension(0, 0))
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but "
            f"got {padding_idx}"
        )
    return int(padding_idx % rows)


def _check_bags(
    weight: Tensor, indices: Tensor, offsets: Tensor, mode: int, scales: object, include_last: bool
) -> None:
    """Refuses what doesn't fit together, in PyTorch's order.

    Raises: RuntimeError.
    """
    rank = indices.dim()
    if rank not in (1, 2):
        raise RuntimeError(f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {rank}")
    for name, t, wanted in (("offsets", offsets, 1), ("weight", weight, 2)):
        if t.dim() != wanted:
            raise RuntimeError(
                f"{name} has to be a {wanted}D Tensor, but got Tensor of dimension {t.dim()}"
            )
    common = D.promote_types(indices.dtype, offsets.dtype)
    if common not in (D.int64, D.int32):
        raw.require_indices(T.empty((), T.to_raw(common)), "embedding_bag")
    raw.require_weight(weight._raw)
    raw.bag_lengths(indices._raw.reshape(-1), offsets._raw, include_last)
    if scales is not None:
        _check_scales(weight, indices, mode, scales)
    if mode not in (0, 1, 2):
        raise RuntimeError("`mode` must be sum, mean, or max.")


def _check_scales(weight: Tensor, indices: Any, mode: int, scales: Any) -> None:
    if mode != 0:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    raw.refuse_scales_of_another_type(weight._raw, scales._raw)
    for shown, fits in (
        ("dim() == 1", scales.dim() == 1),
        ("numel() == indices.numel()", scales.numel() == indices.numel()),
    ):
        if not fits:
            raise RuntimeError(
                f"Expected per_sample_weights.value().{shown} to be true, but got false.  (Could "
                "this error message be improved?  If so, please report an enhancement request to "
                "PyTorch.)"
            )


def _as_bags(
    input: Tensor, offsets: Tensor, scales: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The input as one list with offsets."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a "
                "mini-batch of "
                f"fixed length sequences. However, found offsets of type {_type_text(offsets)}"
            )
        length = input.shape[1]
        arange = _traced.table("arange")
        offsets = arange(0, input.numel(), length, dtype=input.dtype)
        recorder = current().recorder
        if recorder is not None:
            recorder.note_fill(offsets)
        return input.reshape(-1), offsets, None if scales is None else scales.reshape(-1)
    if input.dim() != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if not isinstance(offsets, TensorBase):
        raise ValueError(f"offsets has to be a 1D Tensor but got {offsets}")
    if offsets._raw.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, scales


def _type_text(value: object) -> str:
    return "<class 'torch.Tensor'>" if isinstance(value, TensorBase) else str(type(value))


# ---- one-hot ----------------------------------------------------------------------------------


one_hot = general(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    gather.one_hot,
    shaped_by_values=lambda args: args[1] < 0,
    namespace="nn.functional",
    out=False,
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, low=0, high=4, integer=True), 4),
        (mk(3, low=0, high=4, integer=True),),
    ],
    doc="int64 vectors with a one at each index and zeros elsewhere, along a new last dimension.",
)
