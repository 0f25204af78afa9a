"""`torch.nn.attention.bias`: causal masks for queries and keys of different numbers."""

from __future__ import annotations

import warnings
from enum import IntEnum, auto
from typing import TYPE_CHECKING

from ..._base.dtypes import bool_
from ..._table import namespace
from ..._tensor.tensor import Tensor
from ..._tensor.torch_function import stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..._base.annotations import DeviceLike, Positional


__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]

_FUNCTIONS = namespace("")
_ATTENTION = namespace("nn.functional")


class CausalVariant(IntEnum):
    """From which corner the diagonal of a causal mask starts."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A causal mask that `scaled_dot_product_attention` takes; it is made where it is needed.

    Raises:
        AssertionError: for a variant that is none.
        ValueError: in attention, together with `is_causal=True`.
    """

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        size = int(variant), seq_len_q, seq_len_kv
        made: CausalBias = super().__new__(cls, *size)  # type: ignore[call-arg]
        return made

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > "
                "seq_len_kv!",
                stacklevel=2,
            )

    def _materialize(self, device: DeviceLike | None = None) -> object:
        """The mask: True where a query sees a key."""
        lower = self.variant is CausalVariant.LOWER_RIGHT
        size = self.seq_len_q, self.seq_len_kv
        ones = _FUNCTIONS.find("ones", {})(*size, dtype=bool_)
        return _FUNCTIONS.find("tril", {})(ones, self.seq_len_kv - self.seq_len_q if lower else 0)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Positional = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Attention with the mask in place of this; everything else as for any subclass."""
        named = dict(kwargs or {})
        if getattr(func, "__name__", "") != "scaled_dot_product_attention":
            return super().__torch_function__(func, types, args, named)
        places = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(places, args, strict=False)), **named}
        if given.get("is_causal"):
            raise ValueError("CausalBias should not be used with causal=True")
        given["attn_mask"] = given["attn_mask"]._materialize()
        return _ATTENTION.find("scaled_dot_product_attention", {})(**given)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return repr(self._materialize())


def causal_upper_left(*size: int) -> CausalBias:
    """A mask by which query i sees the keys up to i."""
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """A mask by which the last query sees all keys, the one before it all but one, and so on."""
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)


stand_in(CausalBias)  # attention asks it before it runs
