"""Sequences of several lengths: padded batches, and packed ones, which hold no padding."""

from ..packed import (
    PackedSequence,
    PackedSequence_ as PackedSequence_,
    apply_permutation as apply_permutation,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

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
