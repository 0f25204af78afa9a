"""Multi-head attention: projections, heads, attention, and the projection of what comes out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._core.storage import TensorBase
from ..elementwise.dropout import dropout
from ..linalg.matmul import linear
from ..rows.composite import composite
from ..rows.tensor_namespace import table
from ..shape.pad import pad
from .attention import scaled_dot_product_attention

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor


def _check_shapes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Tensor | None,
    mask: Tensor | None,
    heads: int,
) -> bool:
    """Whether there is a batch dimension.

    Raises: AssertionError, in PyTorch's words; TypeError for what is no tensor of ours.
    """
    for name, given in (("query", query), ("key", key), ("value", value)):
        if not isinstance(given, TensorBase):
            raise TypeError(
                f"multi_head_attention_forward(): argument '{name}' must be Tensor, not "
                f"{errors.type_name(given)}"
            )
    ndim = query.dim()
    if ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    batched: bool = ndim == 3
    word = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.dim() != ndim or value.dim() != ndim:
        raise AssertionError(
            f"For {word} `query`, expected `key` and `value` to be {ndim}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != ndim - 1:
        raise AssertionError(
            f"For {word} `query`, expected `key_padding_mask` to be `None` or {ndim - 1}-D but "
            f"found {padding.dim()}-D tensor instead"
        )
    if mask is not None:
        if mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {word} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{mask.dim()}-D tensor instead"
            )
        if not batched and mask.dim() == 3:
            expected = (heads, query.shape[0], key.shape[0])
            if tuple(mask.shape) != expected:
                raise AssertionError(
                    f"Expected `attn_mask` shape to be {expected} but got {mask.shape}"
                )
    return batched


def as_numbers(
    mask: Tensor | None, name: str, other: Tensor | None, other_name: str, dtype: D.dtype
) -> Tensor | None:
    """A mask as numbers to add: True becomes -inf.

    Raises: AssertionError for integers.
    """
    if mask is None:
        return None
    kind = T.dtype_of(mask)
    if kind is not D.bool_ and not kind.is_floating_point:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and T.dtype_of(other) is not kind:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for "
            "both instead.",
            stacklevel=3,
        )
    if kind is D.bool_:
        zeros = table("zeros_like")(mask, dtype=dtype)
        return zeros.masked_fill_(mask, float("-inf"))
    return mask


def _project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None
) -> tuple[TensorLike, TensorLike, TensorLike]:
    """Queries, keys and values by one packed matrix, in one product where they are one tensor."""
    if key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    size = query.shape[-1]
    if key is value:
        if query is key:
            packed = linear(query, weight, bias)
            packed = packed.unflatten(-1, (3, size)).unsqueeze(0).transpose(0, -2)
            packed = packed.squeeze(-2).contiguous()
            return packed[0], packed[1], packed[2]
        w_q, w_kv = weight.split([size, 2 * size])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, 2 * size])
        q = linear(query, w_q, b_q)
        packed = linear(key, w_kv, b_kv)
        packed = packed.unflatten(-1, (2, size)).unsqueeze(0).transpose(0, -2)
        packed = packed.squeeze(-2).contiguous()
        return q, packed[0], packed[1]
    w_q, w_k, w_v = weight.chunk(3)
    b_q, b_k, b_v = (None, None, None) if bias is None else bias.chunk(3)
    return linear(query, w_q, b_q), linear(key, w_k, b_k), linear(value, w_v, b_v)


def _separately(
    query: Any, key: Tensor, value: Tensor, weights: tuple[Any, Any, Any], bias: Tensor | None
) -> tuple[Any, Any, Any]:
    """Queries, keys and values by a matrix each."""
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    for name, weight in zip("qkv", weights):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    size = query.shape[-1]
    for name, weight, x in zip("qkv", weights, (query, key, value)):
        if tuple(weight.shape) != (size, x.shape[-1]):
            raise AssertionError(
                f"expecting {'query' if name == 'q' else 'key' if name == 'k' else 'value'} "
                f"weights shape of {(size, x.shape[-1])}, but got {weight.shape}"
            )
    q, k, v = (linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
    return q, k, v


def _one_more(mask: Tensor | None) -> Tensor | None:
    """A mask for one more key, which is looked at."""
    return None if mask is None else pad(mask, (0, 1))


def _with_biases(
    k: Tensor, v: Tensor, bias_k: Any, bias_v: Any, static_k: object, static_v: object, batch: int
) -> tuple[Tensor, Tensor]:
    """Keys and values with one more of each in every sequence."""
    if bias_v is None:
        raise AssertionError("bias_k is set but bias_v is None")
    if bias_k is None:
        raise AssertionError("bias_v is set but bias_k is None")
    if static_k is not None or static_v is not None:
        which = "key" if static_k is not None else "value"
        raise AssertionError(f"bias cannot be added to static {which}.")
    cat = table("cat")
    return cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])


def _by_head(padding: Tensor, batch: int, heads: int, keys: int) -> Tensor:
    """The mask of padded keys as one for each head of each sample."""
    for d, expected in enumerate((batch, keys)):
        if padding.shape[d] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{d}] to be {expected}, but got {padding.shape[d]}"
            )
    padding = padding.view(batch, 1, 1, keys).expand(-1, heads, -1, -1)
    return padding.reshape(batch * heads, 1, keys)


def _heads(t: Tensor, static: Any, name: str, batch: int, heads: int, size: int) -> Tensor:
    """(S, N, E) as (N H, S, E / H), or what is given instead."""
    if static is None:
        return t.view(t.shape[0], batch * heads, size).transpose(0, 1)
    if static.shape[0] != batch * heads:
        raise AssertionError(
            f"expecting {name}.size(0) of {batch * heads}, but got {static.shape[0]}"
        )
    if static.shape[2] != size:
        raise AssertionError(f"expecting {name}.size(2) of {size}, but got {static.shape[2]}")
    return static


@composite("nn.functional")
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The attention of several heads, and their weights (None without `need_weights`).

    Shapes: query (L, N, E) or (L, E), key and value (S, N, E) or (S, E); the result like the query,
    the weights (N, L, S), or (N, H, L, S) where they aren't averaged.
    Raises: AssertionError, RuntimeError for shapes that don't fit, in PyTorch's words.
    Source: A. Vaswani et al., Attention is all you need (2017), section 3.2.2.
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_kv, same_qk = key is value, query is key
        query = query.unsqueeze(1)
        key = query if same_qk else key.unsqueeze(1)
        value = key if same_kv else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    keys = key.shape[0]
    kind = T.dtype_of(query)
    padding = as_numbers(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", kind)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        mask = None
    else:
        mask = as_numbers(attn_mask, "attn_mask", None, "", kind)
        if padding is not None:
            is_causal = False
    if size != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}"
        )
    head = size // num_heads
    if head * num_heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        matrices = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _separately(query, key, value, matrices, in_proj_bias)
    else:
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)
    if mask is not None:
        mask = _check_mask(mask, batch, num_heads, length, keys)
    cat = table("cat")
    if bias_k is not None or bias_v is not None:
        k, v = _with_biases(k, v, bias_k, bias_v, static_k, static_v, batch)
        mask, padding = _one_more(mask), _one_more(padding)
    q = q.view(length, batch * num_heads, head).transpose(0, 1)
    k = _heads(k, static_k, "static_k", batch, num_heads, head)
    v = _heads(v, static_v, "static_v", batch, num_heads, head)
    if add_zero_attn:
        zeros = table("zeros")(batch * num_heads, 1, head, dtype=T.dtype_of(k))
        k, v = cat([k, zeros], 1), cat([v, zeros], 1)
        mask, padding = _one_more(mask), _one_more(padding)
    keys = k.shape[1]
    if padding is not None:
        padding = _by_head(padding, batch, num_heads, keys)
        mask = padding if mask is None else mask + padding
    dropped = dropout_p if training else 0.0
    weights: Any
    if need_weights:
        out, weights = _with_weights(q, k, v, mask, dropped, is_causal)
    else:
        out, weights = _without_weights(
            q, k, v, mask, dropped, is_causal, (batch, num_heads, length, keys)
        )
    out = out.transpose(0, 1).contiguous().view(length * batch, size)
    out = linear(out, out_proj_weight, out_proj_bias)
    out = out.view(length, batch, out.shape[1])
    if weights is not None:
        weights = weights.view(batch, num_heads, length, keys)
        if average_attn_weights:
            weights = weights.mean(1)
    if not batched:
        out = out.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return out, weights


def _check_mask(mask: Any, batch: int, heads: int, length: int, keys: int) -> Tensor:
    """The mask with a dimension for heads.

    Raises: RuntimeError for another shape than that of the scores.
    """
    right = (length, keys) if mask.dim() == 2 else (batch * heads, length, keys)
    if tuple(mask.shape) != right:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {right}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _with_weights(
    q: TensorLike, k: Tensor, v: Tensor, mask: object, dropout_p: float, is_causal: bool
) -> tuple[Tensor, Tensor]:
    if is_causal and mask is None:
        raise AssertionError("FIXME: is_causal not implemented for need_weights")
    scaled = q * (1.0 / q.shape[-1]) ** 0.5
    if mask is not None:
        weights = table("baddbmm")(mask, scaled, k.transpose(-2, -1))
    else:
        weights = table("bmm")(scaled, k.transpose(-2, -1))
    weights = table("softmax")(weights, -1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return table("bmm")(weights, v), weights


def _without_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool,
    sizes: tuple[int, int, int, int],
) -> tuple[Any, None]:  # fmt: skip
    batch, heads, length, keys = sizes
    if mask is not None:
        if mask.shape[0] == 1 and mask.dim() == 3:
            mask = mask.unsqueeze(0)
        else:
            mask = mask.view(batch, heads, -1, keys)
    q, k, v = (t.view(batch, heads, t.shape[1], t.shape[2]) for t in (q, k, v))
    out = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    return out.view(batch * heads, length, out.shape[-1]), None
