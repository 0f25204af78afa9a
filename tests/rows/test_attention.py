"""Attention: equal to its parts, masks, shared heads, blocks, second derivatives."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight._array.nn import attention as raw
from rushlight.autograd import gradgradcheck
from rushlight.nn import functional as F


def made(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def by_parts(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


@pytest.mark.parametrize("block", [8, 1 << 18])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_a_softmax_between_two_products(
    monkeypatch: pytest.MonkeyPatch, block: int, causal: bool
) -> None:
    monkeypatch.setattr(raw, "_BLOCK", block)
    torch.manual_seed(0)
    q, k, v = made(2, 3, 40, 4), made(2, 3, 35, 4), made(2, 3, 35, 4)
    mask = torch.ones(40, 35, dtype=torch.bool).tril() if causal else None
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    parts = by_parts(q, k, v, mask)
    assert torch.allclose(fused, parts)
    g = torch.randn(*fused.shape, dtype=torch.float64)
    ours = torch.autograd.grad(fused, (q, k, v), g)
    theirs = torch.autograd.grad(parts, (q, k, v), g)
    for a, b in zip(ours, theirs):
        assert torch.allclose(a, b)


@pytest.mark.parametrize("block", [1 << 18, 5 * 21, 2 * 21, 3 * 5 * 21, 6 * 5 * 21 - 1, 40 * 21])
@pytest.mark.parametrize("shared", [1, 2])
@pytest.mark.parametrize("kind", ["bool", "float", "causal"])
@pytest.mark.parametrize("shape", [(3, 1, 1, 21), (3, 4, 5, 21), (5, 21), (4, 1, 21), (1, 4, 5, 1)])
def test_masks_broadcast_over_blocks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], kind: str, shared: int, block: int
) -> None:
    monkeypatch.setattr(raw, "_BLOCK", block)
    torch.manual_seed(len(shape) + block)
    q, k = torch.randn(3, 4, 5, 6), torch.randn(3, 4 // shared, 21, 6)
    v = torch.randn(3, 4 // shared, 21, 6)
    mask = torch.rand(*shape) > 0.3
    mask[..., :2] = True
    seen = mask if kind != "causal" else mask & torch.ones(5, 21, dtype=torch.bool).tril()
    given = mask
    if kind != "bool":
        given = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))
    inputs = [t.requires_grad_() for t in (q, k, v)]
    many = [q, k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)]
    fused = F.scaled_dot_product_attention(*inputs, given, enable_gqa=shared > 1)
    parts = by_parts(*many, seen)
    assert torch.allclose(fused, parts, rtol=1e-5, atol=1e-5)
    g = torch.randn_like(fused)
    for one, other in zip(
        torch.autograd.grad(fused, inputs, g), torch.autograd.grad(parts, inputs, g)
    ):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("block", [8, 1 << 18])
def test_heads_that_share_keys_see_their_own_masks(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(raw, "_BLOCK", block)
    torch.manual_seed(0)
    q, k, v = made(2, 6, 20, 4), made(2, 2, 18, 4), made(2, 2, 18, 4)
    mask = torch.rand(2, 6, 20, 18) > 0.4
    mask[..., 0] = True
    fused = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
    parts = by_parts(q, k.repeat_interleave(3, 1), v.repeat_interleave(3, 1), mask)
    assert torch.allclose(fused, parts)
    g = torch.randn(*fused.shape, dtype=torch.float64)
    for a, b in zip(
        torch.autograd.grad(fused, (q, k, v), g), torch.autograd.grad(parts, (q, k, v), g)
    ):
        assert torch.allclose(a, b)


def test_a_query_without_keys_gives_zeros_and_finite_gradients() -> None:
    q, k, v = made(1, 1, 2, 4), made(1, 1, 3, 4), made(1, 1, 3, 4)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    out = F.scaled_dot_product_attention(q, k, v, mask)
    assert out[0, 0, 1].tolist() == [0, 0, 0, 0]
    for g in torch.autograd.grad(out.sum(), (q, k, v)):
        assert bool(g.isfinite().all())


def test_attention_can_be_differentiated_twice() -> None:
    q, k, v = made(1, 2, 3, 4), made(1, 1, 5, 4), made(1, 1, 5, 4)

    def f(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    assert gradgradcheck(f, (q, k, v))


def test_only_the_operands_and_the_results_are_kept() -> None:
    q, k, v = made(1, 1, 50, 4), made(1, 1, 50, 4), made(1, 1, 50, 4)
    node = F.scaled_dot_product_attention(q, k, v).grad_fn
    assert node.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
    kept = [getattr(node, n) for n in dir(node) if n.startswith("_saved_")]
    assert max(t.numel() for t in kept if isinstance(t, torch.Tensor)) == 200  # no scores


def test_heads_must_divide_the_embedding() -> None:
    x, w = made(3, 2, 4), made(12, 4)
    with pytest.raises(AssertionError, match="embed_dim 4 not divisible by num_heads 3"):
        F.multi_head_attention_forward(
            x, x, x, 4, 3, w, None, None, None, False, 0.0, made(4, 4), None
        )


@pytest.mark.parametrize(
    ("q", "k", "v"), [((2, 0), (3, 4), (2, 0)), ((2, 0, 3), (3, 2, 3), (2, 2, 5)),
                      ((1, 2, 2, 3), (1, 2, 0, 3), (1, 2, 0, 3))]
)  # fmt: skip
def test_without_queries_or_values_nothing_needs_to_fit(q: Any, k: Any, v: Any) -> None:
    query = torch.randn(q, requires_grad=True)
    found = F.scaled_dot_product_attention(
        query, torch.randn(k), torch.randn(v), attn_mask=torch.randn(7, 7)
    )
    assert torch.equal(found, torch.zeros(*q[:-1], v[-1]))
    found.sum().backward()
    assert torch.equal(query.grad, torch.zeros(q))


def test_the_result_is_laid_out_like_queries_whose_rows_are_whole() -> None:
    x = torch.randn(2, 4, 3, 5)
    turned = x.transpose(1, 2)
    assert F.scaled_dot_product_attention(turned, turned, turned).stride() == turned.stride()
    for q in (x.transpose(2, 3), x.permute(3, 2, 1, 0), x[0], x[0].mT, x[0, :1].expand(6, 3, 5)):
        assert F.scaled_dot_product_attention(q, q, q).is_contiguous()
    wide = x[:, :1].expand(2, 4, 3, 5)
    assert F.scaled_dot_product_attention(wide, wide, wide).stride() == (60, 15, 5, 1)
