"""Packed sequences: padded batches without the padding, time by time."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, new_tensor
from ..rows.composite import composite
from ..rows.gradient_kernels import call_row
from ..rows.row import Row, general, linear
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor


raw = later("_array.nn.packed_sequences")

_TENSOR: Any = TensorBase


_pack = linear(
    "_pack_rows(Tensor self, Tensor places) -> Tensor",
    raw.pack_rows,
    self=lambda xp, g, self_shape, places: call_row(xp, _place, g, places, self_shape, 0),
    node="PackPaddedSequenceBackward0",
    public=False,
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [(mk(3, 2, 2), mk(4, high=6, integer=True))],
    doc="The rows of a batch at these places, in their order.",
)

_place: Row = general(
    "_place_rows(Tensor self, Tensor places, int[] shape, Scalar value) -> Tensor",
    raw.place_rows,
    self=lambda xp, g, places: call_row(xp, _pack, g, places),
    node="CopySlices",
    public=False,
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [(mk(1, 2), mk(1, high=6, integer=True), (3, 2, 2), 0.5)],
    doc="A batch of `shape` that holds rows at their places, and `value` elsewhere.",
)


@composite()
def _pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Any, Any]:
    """The rows of a padded batch that count, and how many there are at each time.

    Raises: RuntimeError for lengths that don't fall, aren't positive or too many.
    """
    if not isinstance(input, _TENSOR):
        kind = errors.type_name(input)
        raise TypeError(
            f"_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not {kind}"
        )
    if not isinstance(batch_first, bool):
        kind = errors.type_name(batch_first)
        raise TypeError(
            f"_pack_padded_sequence(): argument 'batch_first' (position 3) must be bool, not {kind}"
        )
    if batch_first:
        input = input.transpose(0, 1)
    if lengths.dim() != 1:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D cpu {D.scalar_name(lengths.dtype)} tensor"
        )
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    numbers = read_by_python(lengths, "pack_padded_sequence()")
    if input.size(1) != numbers.size:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {numbers.size} "
            f"(batch_size={input.shape[1]})"
        )
    if (numbers <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (numbers[1:] > numbers[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if int(numbers[0]) > input.shape[0]:
        raise RuntimeError(
            f"Expected sequence length to be larger than or equal to the longest length, but got "
            f"{input.shape[0]} and {int(numbers[0])}"
        )
    sizes, places = raw.packed_places(numbers)
    return apply_n(_pack.op, [input, new_tensor(places)]), new_tensor(sizes)


@composite()
def _pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: float, total_length: int
) -> tuple[Any, Any]:
    """The padded batch of packed rows, and the examples' lengths.

    Raises: ValueError for a total length below the longest example's.
    """
    sizes = read_by_python(batch_sizes, "pad_packed_sequence()")
    longest, batch = int(sizes.size), int(sizes[0])
    if total_length > 0:
        if total_length < longest:
            raise RuntimeError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{longest}"
            )
        longest = total_length
    refuse_padding(tuple(data.shape), sizes.tolist())
    lengths = (sizes[:, None] > range(batch)).sum(0)
    _, places = raw.packed_places(lengths)
    shape = (longest, batch, *data.shape[1:])
    if data.shape[0] > len(places):
        data = data[: len(places)]  # rows that belong to no time
    found = apply_n(_place.op, [data, new_tensor(places), shape, padding_value])
    return (found.transpose(0, 1) if batch_first else found), new_tensor(lengths)


def refuse_padding(shape: tuple[int, ...], sizes: list[int]) -> None:
    """Refuses batch sizes that ask for more rows than there are, or that grow.

    Raises: RuntimeError.
    """
    rows, inner = shape[0], list(shape[1:])
    start = offset = 0
    for end in range(1, len(sizes) + 1):
        batch, following = sizes[end - 1], sizes[end] if end < len(sizes) else 0
        if following == batch:
            continue
        steps = end - start
        held = max(0, min(steps * batch, rows - offset))
        if held != steps * batch:
            raise RuntimeError(
                f"shape '{[steps, batch, *inner]}' is invalid for input of size "
                f"{held * prod(inner)}"
            )
        if batch > sizes[0]:
            room, given = (steps, sizes[0], *inner), (steps, batch, *inner)
            raise RuntimeError(errors.broadcast(room, given) or errors.output_shape(room, given))
        if batch < following <= sizes[0]:
            raise RuntimeError(f"batch sizes must not grow, but got {batch} before {following}")
        offset += held
        start = end


def refuse_steps(rows: int, sizes: tuple[int, ...], width: int) -> int:
    """How many rows batch sizes ask for, which may be fewer than a packed sequence has.

    `width` is that of what the states are added to, for the message.
    Raises: RuntimeError.
    """
    offset, before = 0, sizes[0]
    for batch in sizes:
        if offset + batch > rows:
            raise RuntimeError(
                f"start ({offset}) + length ({batch}) exceeds dimension size ({rows})."
            )
        if batch > before:
            room, given = (before, width), (batch, width)
            raise RuntimeError(errors.broadcast(room, given) or errors.output_shape(room, given))
        offset += batch
        before = batch
    return offset


def _longest(sequences: tuple[Tensor, ...]) -> int:
    return max(s.shape[0] for s in sequences)


@composite("private")
def pad_rows(
    sequences: tuple[Tensor, ...], batch_first: bool, padding_value: float, padding_side: str
) -> Tensor:
    """Sequences (L, *) of several lengths as one batch, with `padding_value` at one side.

    Raises: RuntimeError, for no sequences, sequences of different sizes and unknown sides.
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not len(sequences):
        raise RuntimeError("received an empty list of sequences")
    for k, s in enumerate(sequences):
        if not isinstance(s, TensorBase):
            raise TypeError(
                "pad_sequence(): argument 'sequences' (position 1) must be tuple of Tensors, "
                f"but found element of type {errors.type_name(s)} at pos {k}"
            )
    longest = _longest(sequences)
    first = sequences[0]
    shape = (longest, len(sequences), *first.shape[1:])
    if batch_first:
        shape = (len(sequences), longest, *first.shape[1:])
    result = table("full")(shape, padding_value, dtype=first.dtype)
    if (
        not current().slow
        and all(s._plain and not s._requires_grad and s._node is None for s in sequences)
        and raw.fill_rows(
            result._raw, [s._raw for s in sequences], batch_first, padding_side == "left"
        )
    ):
        return result
    for k, s in enumerate(sequences):
        size = s.shape[0]
        start = 0 if padding_side == "right" else longest - size
        place = result.select(0 if batch_first else 1, k)
        place.narrow(0, start, size).copy_(s)
    return result
