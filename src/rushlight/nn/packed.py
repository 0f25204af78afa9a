"""Sequences of several lengths: padded batches, and packed ones, which hold no padding."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

from .._table.nn.packed_sequences import pad_rows as _pad_rows
from ._ground import Tensor, dtypes, f

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The four parts of a packed sequence."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """The rows of several sequences, time by time, longest sequence first.

    `batch_sizes` says how many rows each time has, `sorted_indices` which sequence comes where and
    `unsorted_indices` the way back. Made by `pack_sequence` and `pack_padded_sequence`.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. "
                "Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence "
                "and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def pin_memory(self) -> Self:
        """The sequence in memory that a GPU copies from directly."""
        return self._with(self.data.pin_memory(), lambda index: index.pin_memory())

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The sequence on another device or in another dtype; itself where nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        kept = {k: v for k, v in kwargs.items() if k not in ("device", "dtype")}
        return self._with(data, lambda index: index.to(data.device, **kept))

    def _with(self, data: Tensor, move: Callable[[Tensor], Tensor]) -> Self:
        indices = [
            None if index is None else move(index)
            for index in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *indices)

    def cuda(self, *args: object, **kwargs: object) -> Self:
        """The sequence on the GPU."""
        return self.to(*args, **{"device": "cuda", **kwargs})

    def cpu(self, *args: object, **kwargs: object) -> Self:
        """The sequence on the CPU."""
        return self.to(*args, **{"device": "cpu", **kwargs})

    def double(self) -> Self:
        """The sequence in float64."""
        return self.to(dtype=dtypes.float64)

    def float(self) -> Self:
        """The sequence in float32."""
        return self.to(dtype=dtypes.float32)

    def half(self) -> Self:
        """The sequence in float16."""
        return self.to(dtype=dtypes.float16)

    def long(self) -> Self:
        """The sequence in int64."""
        return self.to(dtype=dtypes.int64)

    def int(self) -> Self:
        """The sequence in int32."""
        return self.to(dtype=dtypes.int32)

    def short(self) -> Self:
        """The sequence in int16."""
        return self.to(dtype=dtypes.int16)

    def char(self) -> Self:
        """The sequence in int8."""
        return self.to(dtype=dtypes.int8)

    def byte(self) -> Self:
        """The sequence in uint8."""
        return self.to(dtype=dtypes.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the rows are on a GPU."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Whether the rows are in pinned memory."""
        return bool(self.data.is_pinned())


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """`tensor` in another order along `dim`; warns, because `index_select` does it."""
    warnings.warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` "
        "instead",
        FutureWarning,
        stacklevel=2,
    )
    return tensor.index_select(dim, permutation)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes `permutation`; None for None."""
    if permutation is None:
        return None
    output: Tensor = f.empty_like(permutation)
    output.scatter_(0, permutation, f.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | list[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """A padded batch without its padding.

    Shapes: input (T, B, *), or (B, T, *) with `batch_first`; lengths (B,), falling unless
    `enforce_sorted=False`.
    Raises: RuntimeError, for lengths that don't fit.
    """
    if not isinstance(lengths, Tensor):
        lengths = f.as_tensor(lengths, dtype=dtypes.int64)
    order = None
    if not enforce_sorted:
        lengths, order = f.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    assert isinstance(lengths, Tensor)
    data, sizes = f._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, sizes, order, None)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The padded batch of a packed sequence, in its first order, and the lengths.

    Raises: ValueError, for a `total_length` below the longest sequence's.
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is None:
        total_length = longest
    elif total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length "
            "of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    padded, lengths = f._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length
    )
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | list[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (L, *) of several lengths as one batch (T, B, *), or (B, T, *).

    Raises: RuntimeError, for something that isn't iterable.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if isinstance(sequences, Tensor):
        sequences = list(sequences.unbind(0))
    return _pad_rows(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, each of its length."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    times = f.arange(padded_sequences.shape[1], device=lengths.device)
    return [one[times < length] for one, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (L, *), packed; longest first unless `enforce_sorted=False`."""
    lengths = f.as_tensor([one.size(0) for one in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one, in their first order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
