"""Normalisation by layer, batch, group, instance, root mean square."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F


def _has_mean_zero_and_variance_one(x: Any, dims: Any) -> bool:
    mean = x.mean(dims)
    square = (x * x).mean(dims)
    return bool(
        torch.allclose(mean, torch.zeros(1, dtype=x.dtype), atol=1e-6)
        and torch.allclose(square, torch.ones(1, dtype=x.dtype), atol=1e-3)
    )


def test_layer_norm_normalises_the_last_dimensions() -> None:
    x = torch.randn(3, 4, 5, dtype=torch.float64)
    assert _has_mean_zero_and_variance_one(F.layer_norm(x, (5,)), 2)
    assert _has_mean_zero_and_variance_one(F.layer_norm(x, (4, 5)), (1, 2))


def test_layer_norm_of_two_numbers_is_minus_one_and_one() -> None:
    out = F.layer_norm(torch.tensor([[1.0, 5.0]]), (2,), torch.tensor([2.0, 3.0]), torch.ones(2))
    assert out[0].tolist() == pytest.approx([-1.0, 4.0], abs=1e-4)


def test_layer_norm_names_its_node_and_keeps_the_statistics() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    node = F.layer_norm(x, (4,)).grad_fn
    assert type(node).__name__ == "NativeLayerNormBackward0"
    assert node._saved_result1.shape == (3, 1)


def test_batch_norm_normalises_channels_and_moves_the_running_statistics() -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 3, 2, dtype=torch.float64) * 3 + 1
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    out = F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert _has_mean_zero_and_variance_one(out, (0, 2))
    assert torch.allclose(mean, 0.25 * x.mean((0, 2)))
    assert torch.allclose(var, 0.75 + 0.25 * x.var((0, 2)))


def test_batch_norm_in_evaluation_uses_the_running_statistics_and_leaves_them() -> None:
    x = torch.tensor([[1.0, 2.0]])
    mean, var = torch.tensor([1.0, 1.0]), torch.tensor([4.0, 4.0])
    out = F.batch_norm(x, mean, var, eps=0.0)
    assert out.tolist() == [[0.0, 0.5]]
    assert mean.tolist() == [1.0, 1.0] and var.tolist() == [4.0, 4.0]


def test_batch_norm_refuses_a_single_value_per_channel() -> None:
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        F.batch_norm(torch.ones(1, 3), None, None, training=True)


def test_group_norm_with_one_group_is_layer_norm_over_everything() -> None:
    x = torch.randn(2, 4, 3, dtype=torch.float64)
    assert torch.allclose(F.group_norm(x, 1), F.layer_norm(x, (4, 3)))


def test_group_norm_with_a_group_per_channel_is_instance_norm() -> None:
    x = torch.randn(2, 4, 5, dtype=torch.float64)
    w, b = torch.randn(4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    assert torch.allclose(F.group_norm(x, 4, w, b), F.instance_norm(x, weight=w, bias=b))


def test_rms_norm_divides_by_the_root_mean_square() -> None:
    out = F.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
    assert out[0].tolist() == pytest.approx([3 / 12.5**0.5, 4 / 12.5**0.5])


def test_normalize_gives_unit_vectors_and_leaves_zero_alone() -> None:
    out = F.normalize(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    assert out.tolist() == [pytest.approx([0.6, 0.8]), [0.0, 0.0]]


def test_local_response_norm_divides_by_the_squares_of_neighbours() -> None:
    x = torch.ones(1, 3, 1)
    out = F.local_response_norm(x, 3, alpha=3.0, beta=1.0, k=1.0)
    assert out[0, :, 0].tolist() == pytest.approx([1 / 3, 1 / 4, 1 / 3])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w, b: F.layer_norm(x, (3,), w, b),
        lambda x, w, b: F.batch_norm(x.transpose(1, 2), None, None, w, b, True),
        lambda x, w, b: F.batch_norm(x.transpose(1, 2), w.detach(), b.detach() ** 2, w, b),
        lambda x, w, b: F.group_norm(x.transpose(1, 2), 3, w, b),
    ],
    ids=["layer", "batch", "batch in evaluation", "group"],
)
def test_the_recorded_gradients_are_the_kernels(function: Any) -> None:
    torch.manual_seed(4)
    x, w, b = (
        torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((4, 5, 3), (3,), (3,))
    )
    out = (function(x, w, b) ** 3).sum()
    plain = torch.autograd.grad(out, (x, w, b), retain_graph=True)
    recorded = torch.autograd.grad(out, (x, w, b), create_graph=True)
    for one, two in zip(plain, recorded, strict=True):
        assert torch.allclose(one, two, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("length", [3, 300])
def test_halves_stay_halves_when_normalised(dtype: torch.dtype, length: int) -> None:
    x = torch.randn(2, 6, length).to(dtype)
    weight = torch.ones(6, dtype=dtype)
    for out in (
        F.group_norm(x, 2, weight, weight),
        F.layer_norm(x, (length,)),
        F.batch_norm(x, None, None, weight, weight, True),
        F.instance_norm(x),
    ):
        assert out.dtype is dtype


def test_running_statistics_cannot_have_a_tangent_beside_that_of_the_input() -> None:
    forward = torch.autograd.forward_ad
    x, mean, var = torch.randn(3, 2), torch.randn(2), torch.rand(2)
    with forward.dual_level():
        dual, moved = (forward.make_dual(t, torch.ones_like(t)) for t in (x, mean))
        F.batch_norm(x, moved, var)
        F.batch_norm(dual, mean.clone(), var, training=True)
        with pytest.raises(RuntimeError, match="is not differentiable wrt running_mean and"):
            F.batch_norm(dual, moved, var)
