"""Attention: scaled dot products of queries and keys weigh the values."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.storage import new_tensor
from ..._formula.words import exp, row_sum, row_top, where
from ..calls import dtype_checks as _checks
from ..elementwise.number import multiply_by, times
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import general
from ..rows.row_formula import row_formula
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.attention")


# ---- softmax of masked scores -------------------------------------------------------------------
def _safe_value(x: TensorLike, dim: int) -> Any:
    top = row_top(x, dim)
    e = exp(x - where(top == -inf, 0.0, top))
    total = row_sum(e, dim)
    return e * where(total == 0.0, 0.0, 1 / total)


_safe_softmax = general(
    "_safe_softmax(Tensor self, int dim) -> Tensor",
    row_formula(lambda self, dim: _safe_value(self, dim)),
    self=row_formula(lambda g, out, dim: out * (g - row_sum(g * out, dim))),
    namespace="private",
    out=False,
    dtypes="float",
    samples=lambda mk: [(mk(3, 4), -1)],
    doc="The softmax along the last dimension, with zeros for rows of -inf.",
)


# ---- the fused operation ------------------------------------------------------------------------
def _gradients(
    g0: Tensor,
    query: Any,
    key: Any,
    value: Tensor,
    output: Tensor,
    logsumexp: Tensor,
    attn_mask: Any,
    is_causal: bool,
    scale: Any,
) -> tuple[TensorLike, TensorLike, TensorLike]:
    """The gradients in operations that are recorded: those of a softmax between two products."""
    q, k, v, mask = query, key, value, attn_mask
    shared = q.shape[-3] // k.shape[-3] if q.dim() > 2 and k.shape[-3] else 1
    if shared > 1:
        many_k, many_v = (t.repeat_interleave(shared, -3) for t in (k, v))
    else:
        many_k, many_v = k, v
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    scores = (q * factor) @ many_k.transpose(-2, -1)
    if is_causal:
        seen = new_tensor(raw.causal_mask(q.shape[-2], k.shape[-2]))
        scores = table("where")(seen, scores, float("-inf"))
    if mask is not None:
        if mask._raw.dtype.kind == "b":
            scores = table("where")(mask, scores, float("-inf"))
        else:
            scores = scores + mask
    p = apply_n(_safe_softmax.op, [scores, -1])
    dv = p.transpose(-2, -1) @ g0
    d = g0 @ many_v.transpose(-2, -1)
    d = p * (d - (d * p).sum(-1, keepdim=True)) * factor
    dk = d.transpose(-2, -1) @ q
    if shared > 1:
        dk, dv = (t.reshape(*k.shape[:-2], shared, *t.shape[-2:]).sum(-3) for t in (dk, dv))
    return d @ many_k, dk, dv


def _declare(
    name: str, node: str, like_queries: bool, lowering: str = "", delivers: tuple[str, ...] = ()
) -> Any:
    return general(
        f"{name}(Tensor query, Tensor key, Tensor value, "
        "float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, "
        "float? scale=None) -> (Tensor output, Tensor logsumexp)",
        lambda q, k, v, p, causal, mask, scale: raw.attention(
            q, k, v, mask, causal, scale, like_queries
        ),
        joint=record_gradient(_gradients, override=raw.attention_backward),
        attn_mask=None,
        differentiable_out=(True, False),
        node=node,
        namespace="private",
        out=False,
        dtypes="float",
        samples=lambda mk: [
            (mk(2, 3, 4), mk(2, 3, 4), mk(2, 3, 4)),
            (mk(2, 3, 4), mk(1, 5, 4), mk(1, 5, 2), 0.0, True),
        ],
        lowering=lowering,
        delivers=delivers,
        doc="softmax(scale q kᵀ + mask) v, and the logarithms of the denominators.",
    )


_flash = _declare(
    "_scaled_dot_product_flash_attention_for_cpu",
    "ScaledDotProductFlashAttentionForCpuBackward0",
    True,
    "attention",
)
# The products that PyTorch takes one after the other bring their gradients from the last one on.
_fused = _declare(
    "_scaled_dot_product_fused_attention", "UnsafeViewBackward0", False,
    delivers=("value", "key", "query"),
)  # fmt: skip


# ---- the public function ------------------------------------------------------------------------
def _word(d: D.dtype) -> str:
    return _checks._word(d)


def _check(q: Any, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    raws = q._raw, k._raw, v._raw
    dtype = raws[0].dtype
    if mask is None and dtype is raws[1].dtype and dtype is raws[2].dtype and (
        raws[0].ndim > 1 and raws[1].ndim > 1 and raws[2].ndim > 1
    ):  # fmt: skip
        return
    dims = [array.ndim for array in raws]
    kinds = [T.from_raw(array.dtype) for array in raws]
    if kinds[0] is not kinds[1] or kinds[0] is not kinds[2]:
        words = [_word(d) for d in kinds]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{words[0]} key.dtype: {words[1]} and value.dtype: {words[2]} instead."
        )
    if min(dims) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{dims[0]} key.dim: {dims[1]} and value.dim: {dims[2]} instead."
        )
    if mask is not None:
        kind = T.dtype_of(mask)
        if kind is not D.bool_ and kind is not D.float32 and kind is not kinds[0]:
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {_word(kind)} and  query.dtype: {_word(kinds[0])} instead."
            )
        if mask._raw.ndim < 2:
            raise IndexError(errors.dimension(-2, mask._raw.ndim))


def _fits(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, gqa: bool) -> bool:
    """Whether the fused operation takes these operands."""
    shapes = q._raw.shape, k._raw.shape, v._raw.shape
    rank = len(shapes[0])
    if rank < 3 or rank != len(shapes[1]) or rank != len(shapes[2]):
        return False
    if shapes[0][-1] != shapes[1][-1]:
        return False
    if shapes[1][:-1] != shapes[2][:-1]:
        return False
    if T.dtype_of(q).category != D.FLOAT or (mask is not None and mask._requires_grad):
        return False
    heads, others = shapes[0][:-2], shapes[1][:-2]
    if heads != others and not (
        gqa and len(heads) and heads[:-1] == others[:-1] and others[-1]
        and heads[-1] % others[-1] == 0
    ):  # fmt: skip
        return False
    if mask is not None:
        full = (*heads, shapes[0][-2], shapes[1][-2])
        have = mask._raw.shape
        if len(have) > len(full):
            return False
        if any(n not in (1, m) for n, m in zip(reversed(have), reversed(full))):
            return False
    return bool(q._raw.size and k._raw.size and v._raw.size)


def _empty(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The result without queries or without values: zeros, whatever the other sizes are."""
    zeros = table("zeros")((*q._raw.shape[:-1], v._raw.shape[-1]), dtype=T.dtype_of(q))
    return zeros + apply_n(times.op, [q.sum() + k.sum() + v.sum(), 0])


def _with_equal_heads(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    """Keys and values, repeated so that there are as many heads as of queries."""
    for t in (q, k, v):
        axis_of(-3, t._raw.ndim)  # refuses what has no heads
    heads = [t._raw.shape[-3] for t in (q, k, v)]
    if any(n == 0 or heads[0] % n for n in heads[1:]):
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    repeat = table("repeat_interleave")
    return repeat(k, heads[0] // heads[1], -3), repeat(v, heads[0] // heads[2], -3)


def attention_weights(
    q: Tensor, k: Tensor, mask: Any, causal: bool, scale: float | None, dropout_p: float
) -> Tensor:
    """The weights of the values, step by step."""
    if causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        mask = new_tensor(raw.causal_mask(q._raw.shape[-2], k._raw.shape[-2]))
        recorder = current().recorder
        if recorder is not None:
            recorder.constant(mask._raw)
    if mask is not None and mask._raw.dtype.kind == "b":
        zeros = table("zeros_like")(mask, dtype=T.dtype_of(q))
        mask = zeros.masked_fill_(mask.logical_not(), float("-inf"))
    size = q._raw.shape[-1]
    factor = (1 / size**0.5 if size else float("inf")) if scale is None else scale
    root = abs(factor) ** 0.5
    q = multiply_by(q, root if factor >= 0 else -root)
    scores = q @ multiply_by(k.transpose(-2, -1), root)
    if mask is not None:
        scores = scores + mask
    if T.dtype_of(scores).category != D.FLOAT:
        raise NotImplementedError(
            errors.not_implemented("softmax_lastdim_kernel_impl", D.scalar_name(T.dtype_of(scores)))
        )
    if scores._raw.size:
        scores = apply_n(_safe_softmax.op, [scores, -1])
    return table("dropout")(scores, dropout_p, True) if dropout_p > 0 else scores


def _in_rows(*arrays: Array) -> bool:
    """Whether the elements of each row lie one behind the other."""
    return all(a.strides[-1] == a.itemsize or a.shape[-1] == 1 for a in arrays)


@composite("nn.functional")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale q kᵀ + mask) v: for every query a mean of the values, weighted by likeness.

    `attn_mask`: False where a key isn't looked at, or numbers that are added. `is_causal`: no key
    after its query. `scale`: 1 / √E by default. `enable_gqa`: groups of query heads share keys.
    `dropout_p` acts whether a module is training or not: give 0 where it isn't.
    Without dropout the scores are computed a block at a time and never kept.

    Shapes: query (…, H, L, E), key (…, H, S, E), value (…, H, S, V) -> (…, H, L, V).
    Raises: RuntimeError for operands that don't fit together, and `is_causal` with `attn_mask`.
    Special: a query that looks at no key -> zeros
    """
    _check(query, key, value, attn_mask)
    if not (value._raw.size and query._raw.shape[-2]):
        return _empty(query, key, value)
    if T.dtype_of(query).category < D.FLOAT:
        raise RuntimeError(
            f"expected scalar type Float but found {D.scalar_name(T.dtype_of(query))}"
        )
    if enable_gqa and min(t._raw.ndim for t in (query, key, value)) > 2:
        heads = [t._raw.shape[-3] for t in (query, key, value)]
        if any(n == 0 or heads[0] % n for n in heads[1:]):
            raise RuntimeError(
                "Number of heads in key and value must divide the number of heads in "
            )
    fits = _fits(query, key, value, attn_mask, enable_gqa)
    like_torch = (
        query._raw.ndim == 4
        and query._raw.shape[-1] == value._raw.shape[-1]
        and (attn_mask is None or attn_mask._raw.ndim in (2, 4))
        and _in_rows(query._raw, key._raw, value._raw)
    )
    if dropout_p < 0 and fits and like_torch:
        raise RuntimeError(
            "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0"
        )
    if fits and dropout_p == 0 and (like_torch or not (is_causal and attn_mask is not None)):
        row = _flash if like_torch else _fused
        return apply_n(
            row.op,
            [query, key, value, 0.0, is_causal, attn_mask, None if scale is None else float(scale)],
        )[0]
    if enable_gqa:
        key, value = _with_equal_heads(query, key, value)
    kind = T.dtype_of(query)
    if kind in (D.float16, D.bfloat16):  # as PyTorch: in single precision from end to end
        query, key, value = (t.to(D.float32) for t in (query, key, value))
        if attn_mask is not None and attn_mask.dtype is kind:
            attn_mask = attn_mask.to(D.float32)
    found = attention_weights(query, key, attn_mask, is_causal, scale, dropout_p) @ value
    return found.to(kind)
