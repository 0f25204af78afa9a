"""Attention whose scores a function changes and whose pairs a function chooses.

The functions are called once, with tensors of indices that broadcast against the scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._table import namespace

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._tensor.tensor import Tensor


__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask",
    "create_nested_block_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_T: Any = namespace("").module("flex_attention")

MaskMod = Callable[[Any, Any, Any, Any], Any]
ScoreMod = Callable[[Any, Any, Any, Any, Any], Any]


class AuxRequest(NamedTuple):
    """What `flex_attention` gives besides its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What it gave: the logarithm of the sum of each row's exponentials, and its largest score."""

    lse: Any = None
    max_scores: Any = None


def noop_mask(batch: object, head: object, token_q: object, token_kv: object) -> Any:
    """True for every pair."""
    return _T.ones(()) > 0


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The pairs that all of the masks keep."""

    def both(b: object, h: object, q: object, kv: object) -> Any:
        kept = noop_mask(b, h, q, kv)
        for mask in mask_mods:
            kept = kept & mask(b, h, q, kv)
        return kept

    return both


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The pairs that any of the masks keeps."""

    def either(b: object, h: object, q: object, kv: object) -> object:
        kept = ~noop_mask(b, h, q, kv)
        for mask in mask_mods:
            kept = kept | mask(b, h, q, kv)
        return kept

    return either


def _indices(
    batches: int, heads: int, queries: int, keys: int
) -> tuple[object, object, object, object]:
    return (
        _T.arange(batches).view(-1, 1, 1, 1),
        _T.arange(heads).view(-1, 1, 1),
        _T.arange(queries).view(-1, 1),
        _T.arange(keys),
    )


def create_mask(
    mod_fn: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: DeviceLike | None = None,
) -> Tensor:
    """The pairs that a mask keeps, as a tensor of truths of shape (B, H, Q_LEN, KV_LEN)."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_indices(*shape)).expand(shape)


class BlockMask:
    """The pairs of queries and keys that take part: the function that chooses them, and sizes."""

    def __init__(
        self, mask_mod: MaskMod, shape: tuple[int, int, int, int], block_size: tuple[int, int]
    ) -> None:
        self.mask_mod = mask_mod
        self.shape = shape
        self.BLOCK_SIZE = block_size
        self.seq_lengths = shape[2:]
        self._dense: Any = None

    def dense(self) -> Tensor:
        """The pairs as a tensor of truths."""
        if self._dense is None:
            self._dense = create_mask(self.mask_mod, *self.shape)
        return self._dense

    def to_dense(self) -> Tensor:
        """Which blocks hold a pair that takes part, as 0 and 1."""
        batches, heads, queries, keys = self.shape
        rows, columns = (-(-n // size) for n, size in zip((queries, keys), self.BLOCK_SIZE))
        whole = _T.zeros(batches, heads, rows * self.BLOCK_SIZE[0], columns * self.BLOCK_SIZE[1])
        whole[:, :, :queries, :keys] = self.dense().to(whole.dtype)
        blocks = whole.view(batches, heads, rows, self.BLOCK_SIZE[0], columns, self.BLOCK_SIZE[1])
        return (blocks.sum((3, 5)) > 0).int()

    def sparsity(self) -> float:
        """The share of blocks without a pair, in percent."""
        dense = self.to_dense()
        return 100.0 * (1.0 - int(dense.sum()) / int(dense.numel()))

    def to(self, device: DeviceLike) -> BlockMask:
        """The mask itself: there is one device."""
        return self


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: DeviceLike | None = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """The mask of a function for given sizes; None stands for one that fits all."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), size)


def create_nested_block_mask(*args: object, **kwargs: object) -> object:
    """Raises NotImplementedError: there are no nested tensors."""
    raise NotImplementedError("create_nested_block_mask needs nested tensors")


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: object = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(scale · query keyᵀ)) value over the pairs of the mask; empty rows give 0.

    Shapes:
        query (B, H, L, E), key (B, H', S, E), value (B, H', S, F) -> (B, H, L, F); H' divides H
        with `enable_gqa`.
    """
    if enable_gqa and key.shape[1] != query.shape[1]:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if score_mod is not None:
        scores = score_mod(scores, *_indices(*scores.shape))
    if block_mask is not None:
        kept = block_mask.dense()[..., : scores.shape[-2], : scores.shape[-1]]
        scores = scores.masked_fill(~kept, -math.inf)
    lse = scores.logsumexp(-1)
    empty = lse == -math.inf
    weights = (scores - lse.masked_fill(empty, 0.0).unsqueeze(-1)).exp()
    out = weights.to(value.dtype) @ value
    if return_aux is not None:
        best = scores.amax(-1) if return_aux.max_scores else None
        return out, AuxOutput(lse if return_aux.lse else None, best)
    return (out, lse) if return_lse else out
