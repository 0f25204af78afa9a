"""Losses: known values, limits, targets that are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F


def _grad(loss: Any, x: Any) -> Any:
    return torch.autograd.grad(loss, x)[0]


def test_mse_loss_is_the_mean_square_and_its_gradient_two_thirds_of_the_differences() -> None:
    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    loss = F.mse_loss(x, torch.tensor([1.0, 1.0, 1.0]))
    assert loss.item() == pytest.approx(10 / 3)
    assert _grad(loss, x).tolist() == pytest.approx([0.0, 2 / 3, 2.0])


def test_mse_loss_over_many_elements_keeps_its_precision() -> None:
    x = torch.full((1000, 1000), 0.1)
    assert F.mse_loss(x, torch.zeros(1000, 1000)).item() == pytest.approx(0.01, rel=1e-6)


def test_a_target_of_another_size_broadcasts_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[3\]\)\)"):
        loss = F.mse_loss(torch.ones(2, 3), torch.zeros(3))
    assert loss.item() == 1.0


def test_smooth_l1_is_quadratic_inside_beta_and_linear_outside() -> None:
    x = torch.tensor([0.5, -3.0], requires_grad=True)
    each = F.smooth_l1_loss(x, torch.zeros(2), reduction="none", beta=2.0)
    assert each.tolist() == [0.0625, 2.0]
    assert _grad(each.sum(), x).tolist() == [0.25, -1.0]


def test_huber_is_delta_times_smooth_l1() -> None:
    x, y = torch.randn(50), torch.randn(50)
    assert torch.allclose(F.huber_loss(x, y, delta=0.7), 0.7 * F.smooth_l1_loss(x, y, beta=0.7))


def test_huber_refuses_a_target_of_another_dtype_in_backward() -> None:
    x = torch.ones(2, requires_grad=True)
    loss = F.huber_loss(x, torch.ones(2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        loss.backward()


def test_a_positive_weight_larger_than_the_input_is_refused() -> None:
    x, many = torch.zeros(3), torch.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match"):
        F.binary_cross_entropy_with_logits(x, x, pos_weight=many)


def test_logits_at_zero_have_second_derivatives_for_the_target() -> None:
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    t = torch.full((1,), 0.3, dtype=torch.float64, requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, t, pos_weight=torch.tensor([3.0]).double())
    slope = torch.autograd.grad(loss, t, create_graph=True)[0]
    assert _grad(slope, x).tolist() == pytest.approx([-0.5 - 3.0 * 0.5])


def test_soft_margins_in_half_precision_overflow_where_the_exponential_does() -> None:
    each = F.soft_margin_loss(torch.tensor([-12.0]).half(), torch.ones(1).half())
    assert each.item() == math.inf


def test_cross_entropy_of_even_logits_is_the_log_of_the_number_of_classes() -> None:
    x = torch.zeros(7, 5, requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([0, 1, 2, 3, 4, 0, 1]))
    assert loss.item() == pytest.approx(math.log(5))
    g = _grad(loss, x)
    assert g[0].tolist() == pytest.approx([-0.8 / 7, 0.2 / 7, 0.2 / 7, 0.2 / 7, 0.2 / 7])


def test_cross_entropy_is_nll_loss_of_log_softmax() -> None:
    x = torch.randn(6, 4, requires_grad=True)
    t = torch.tensor([3, 1, 0, 2, 2, 1])
    loss, two = F.cross_entropy(x, t), F.nll_loss(F.log_softmax(x, 1), t)
    assert loss.item() == pytest.approx(two.item(), rel=1e-6)
    assert torch.allclose(_grad(loss, x), _grad(two, x), atol=1e-7)


def test_cross_entropy_shows_pytorchs_node_and_with_weights_its_two() -> None:
    x, t = torch.randn(6, 4, requires_grad=True), torch.tensor([3, 1, 0, 2, 2, 1])
    assert type(F.cross_entropy(x, t).grad_fn).__name__ == "NllLossBackward0"
    node = F.cross_entropy(x, t, torch.ones(4)).grad_fn
    assert type(node).__name__ == "NllLossBackward0"
    assert type(node.next_functions[0][0]).__name__ == "LogSoftmaxBackward0"


def test_the_loss_of_a_confident_prediction_keeps_its_digits() -> None:
    x = torch.tensor([[8.0, 0.0], [12.0, 0.0]])
    for each in (
        F.cross_entropy(x, torch.tensor([0, 0]), reduction="none"),
        -F.log_softmax(x, 1)[:, 0],
    ):
        assert each.tolist() == pytest.approx([3.354064e-4, 6.1441e-6], rel=2e-2)
        assert each[0].item() == pytest.approx(3.354064e-4, rel=5e-4)


def test_cross_entropy_is_exact_for_large_logits() -> None:
    x = torch.tensor([[1e4, 0.0], [0.0, 1e4]], requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([0, 0]), reduction="none")
    assert loss.tolist() == [0.0, 1e4]


def test_ignored_targets_count_neither_in_the_loss_nor_in_the_mean() -> None:
    x = torch.randn(4, 3, requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([2, -100, 0, -100]))
    wanted = F.cross_entropy(x[::2], torch.tensor([2, 0]))
    assert loss.item() == pytest.approx(wanted.item(), rel=1e-6)
    g = _grad(loss, x)
    assert g[1].tolist() == [0.0, 0.0, 0.0] and g[3].tolist() == [0.0, 0.0, 0.0]


def test_ignoring_every_target_gives_nan_and_a_zero_gradient() -> None:
    x = torch.randn(2, 3, requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([-100, -100]))
    assert math.isnan(loss.item())
    assert _grad(loss, x).tolist() == [[0.0] * 3] * 2


def test_weights_by_class_divide_by_their_total() -> None:
    x = torch.randn(3, 2)
    w = torch.tensor([1.0, 3.0])
    t = torch.tensor([0, 1, 1])
    each = F.cross_entropy(x, t, reduction="none")
    wanted = (each * torch.tensor([1.0, 3.0, 3.0])).sum() / 7
    assert F.cross_entropy(x, t, w).item() == pytest.approx(wanted.item(), rel=1e-6)


def test_one_hot_probabilities_give_the_loss_of_their_classes() -> None:
    x = torch.randn(5, 4, dtype=torch.float64)
    t = torch.tensor([0, 3, 1, 1, 2])
    soft = F.one_hot(t, 4).to(torch.float64)
    for smoothing in (0.0, 0.3):
        hard_loss = F.cross_entropy(x, t, label_smoothing=smoothing)
        soft_loss = F.cross_entropy(x, soft, label_smoothing=smoothing)
        assert hard_loss.item() == pytest.approx(soft_loss.item(), rel=1e-12)


def test_images_have_their_classes_along_dimension_one() -> None:
    x = torch.randn(2, 3, 4, 5, requires_grad=True)
    t = torch.randint(0, 3, (2, 4, 5))
    flat = F.cross_entropy(x.permute(0, 2, 3, 1).reshape(-1, 3), t.reshape(-1))
    loss = F.cross_entropy(x, t)
    assert loss.item() == pytest.approx(flat.item(), rel=1e-6)
    assert type(loss.grad_fn).__name__ == "NllLoss2DBackward0"


@pytest.mark.parametrize(
    ("target", "error", "text"),
    [
        ([0, 1], ValueError, "Expected input batch_size (3) to match target batch_size (2)."),
        ([0, 1, 5], IndexError, "Target 5 is out of bounds."),
        ([0, 1, -5], IndexError, "Target -5 is out of bounds."),
        (
            [[0], [1], [2]],
            RuntimeError,
            "0D or 1D target tensor expected, multi-target not supported",
        ),
    ],
)
def test_targets_that_do_not_fit_are_refused(target: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        F.cross_entropy(torch.zeros(3, 4), torch.tensor(target))
    assert str(caught.value) == text


def test_a_target_written_before_backward_is_noticed() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    t = torch.tensor([0, 1, 2])
    loss = F.cross_entropy(x, t)
    t[0] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_bce_cuts_its_logarithms_off_at_minus_hundred() -> None:
    each = F.binary_cross_entropy(
        torch.tensor([0.0, 1.0]), torch.tensor([1.0, 1.0]), reduction="none"
    )
    assert each.tolist() == [100.0, 0.0]


def test_bce_refuses_what_is_no_probability() -> None:
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.0]))


def test_bce_with_logits_is_bce_of_the_sigmoid() -> None:
    x = torch.randn(20, dtype=torch.float64, requires_grad=True)
    t = torch.rand(20, dtype=torch.float64)
    one, two = F.binary_cross_entropy_with_logits(x, t), F.binary_cross_entropy(torch.sigmoid(x), t)
    assert one.item() == pytest.approx(two.item(), rel=1e-12)
    assert torch.allclose(_grad(one, x), _grad(two, x), rtol=1e-10)


def test_bce_with_logits_is_finite_for_large_logits() -> None:
    x = torch.tensor([1e5, -1e5], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, torch.tensor([0.0, 1.0]), reduction="none")
    assert loss.tolist() == [1e5, 1e5]
    assert _grad(loss.sum(), x).tolist() == [1.0, -1.0]


def test_kl_div_of_a_distribution_with_itself_is_zero() -> None:
    p = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64)
    assert F.kl_div(p.log(), p, reduction="batchmean").item() == pytest.approx(0, abs=1e-15)
    assert F.kl_div(p.log(), p.log(), reduction="sum", log_target=True).item() == 0


def test_gaussian_nll_loss_of_the_mean_at_variance_one_is_zero() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert F.gaussian_nll_loss(x, torch.tensor([1.0, 2.0]), torch.ones(2)).item() == 0
    with pytest.raises(ValueError, match="var has negative entry/entries"):
        F.gaussian_nll_loss(x, x, -torch.ones(2))


def test_triplet_margin_loss_vanishes_where_the_negative_is_far() -> None:
    a, p, n = torch.zeros(1, 2), torch.zeros(1, 2), torch.full((1, 2), 10.0)
    assert F.triplet_margin_loss(a, p, n).item() == 0
    assert F.triplet_margin_loss(a, n, p).item() == pytest.approx(1 + 200**0.5, rel=1e-4)


@pytest.mark.parametrize(
    ("first", "second", "dim"),
    [
        ((5, 1, 4), (1, 6, 4), 2), ((5, 1, 4), (1, 6, 4), -1), ((4,), (3, 4), 1),
        ((1, 4), (3, 4), 1), ((3, 1), (3, 4), 1), ((3, 1), (3, 4), 0), ((1,), (3, 4), -1),
        ((1, 1, 4), (7, 4), 0), ((0, 4), (1, 4), 1),
    ],
)  # fmt: skip
def test_cosine_similarity_of_vectors_that_broadcast_is_that_of_their_copies(
    first: tuple[int, ...], second: tuple[int, ...], dim: int
) -> None:
    torch.manual_seed(0)
    x, y = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in (first, second))
    shape = torch.broadcast_shapes(first, second)
    copies = [t.expand(shape).clone() for t in (x, y)]
    found, wanted = F.cosine_similarity(x, y, dim), F.cosine_similarity(*copies, dim)
    assert found.shape == wanted.shape
    assert torch.allclose(found, wanted)
    weights = torch.randn(found.shape, dtype=torch.float64)
    slopes = torch.autograd.grad((found * weights).sum(), [x, y])
    exact = torch.autograd.grad((wanted * weights).sum(), [x, y])
    assert all(torch.allclose(a, b) for a, b in zip(slopes, exact, strict=True))


def test_cosine_similarity_of_all_pairs_makes_no_copies_of_the_vectors() -> None:
    x, y = torch.ones(64, 1, 32, requires_grad=True), torch.ones(1, 64, 32)
    saved: list[int] = []

    def note(t: torch.Tensor) -> torch.Tensor:
        saved.append(t.untyped_storage().nbytes())
        return t

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        F.cosine_similarity(x, y, -1)
    assert max(saved) <= 64 * 32 * 4


def test_cosine_similarity_of_parallel_and_orthogonal_vectors() -> None:
    x = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    y = torch.tensor([[2.0, 2.0], [0.0, 3.0]])
    assert F.cosine_similarity(x, y).tolist() == pytest.approx([1.0, 0.0])


def test_multi_margin_loss_counts_the_margins_of_the_other_classes() -> None:
    x = torch.tensor([[0.1, 0.2, 0.4, 0.8]], requires_grad=True)
    loss = F.multi_margin_loss(x, torch.tensor([3]))
    assert loss.item() == pytest.approx(0.25 * (0.3 + 0.4 + 0.6))
    assert _grad(loss, x).tolist()[0] == pytest.approx([0.25, 0.25, 0.25, -0.75])


def test_multilabel_margin_loss_reads_labels_up_to_the_first_minus_one() -> None:
    x = torch.tensor([[0.1, 0.2, 0.4, 0.8]])
    loss = F.multilabel_margin_loss(x, torch.tensor([[3, 0, -1, 1]]))
    assert loss.item() == pytest.approx(0.25 * ((1 - 0.6) + (1 - 0.4) + (1 + 0.1) + (1 + 0.3)))


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "cross_entropy", "binary_cross_entropy"])
def test_an_unknown_reduction_is_refused(name: str) -> None:
    x = torch.full((2, 2), 0.5)
    with pytest.raises(ValueError, match="foo is not a valid value for reduction"):
        getattr(F, name)(x, x, reduction="foo")


def _second_order(function: Any, *inputs: Any) -> None:
    for t in inputs:
        t.requires_grad_(t.is_floating_point())
    live = [t for t in inputs if t.requires_grad]
    loss = function(*inputs)
    plain = torch.autograd.grad(loss, live, retain_graph=True)
    recorded = torch.autograd.grad(loss, live, create_graph=True)
    for one, two in zip(plain, recorded, strict=True):
        assert torch.allclose(one, two, rtol=1e-10, atol=1e-12)


def test_recorded_gradients_are_the_kernels_gradients() -> None:
    torch.manual_seed(3)
    d = torch.float64
    x, y = torch.randn(4, 3, dtype=d), torch.randn(4, 3, dtype=d)
    p, q = torch.rand(4, 3, dtype=d) * 0.8 + 0.1, torch.rand(4, 3, dtype=d) * 0.8 + 0.1
    t = torch.tensor([0, 2, -100, 1])
    _second_order(F.mse_loss, x.clone(), y.clone())
    _second_order(F.smooth_l1_loss, x.clone(), y.clone())
    _second_order(F.huber_loss, x.clone(), y.clone())
    _second_order(F.binary_cross_entropy, p.clone(), q.clone())
    _second_order(F.binary_cross_entropy_with_logits, x.clone(), q.clone())
    _second_order(F.cross_entropy, x.clone(), t)
    _second_order(F.multi_margin_loss, x.clone(), torch.tensor([0, 2, 1, 1]))
    _second_order(F.multilabel_margin_loss, x.clone(), torch.tensor([[0, -1, 1]] * 4))
    _second_order(lambda a: F.soft_margin_loss(a, torch.sign(y)), x.clone())


# Whose strides a loss by element has, and whose its gradients: self's, the target's, or C order.
STRIDES = {
    "mse_loss": ("self", "c"),
    "smooth_l1_loss": ("self", "c"),
    "huber_loss": ("self", "c"),
    "soft_margin_loss": ("self", "target"),
    "binary_cross_entropy": ("self", "self"),
    "binary_cross_entropy_with_logits": ("target", "self"),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("orders", [("c", "f"), ("f", "c"), ("f", "f")])
@pytest.mark.parametrize("name", STRIDES)
def test_a_loss_and_its_gradient_follow_the_strides_of_one_operand(name, orders, dtype) -> None:
    strides = {"c": (5, 1), "f": (1, 3)}
    made = {
        "c": lambda: torch.full((3, 5), 0.25, dtype=dtype),
        "f": lambda: torch.full((5, 3), 0.25, dtype=dtype).t(),
    }
    order = {"self": orders[0], "target": orders[1], "c": "c"}
    x, t = made[orders[0]]().requires_grad_(), made[orders[1]]()
    value, slope = (strides[order[operand]] for operand in STRIDES[name])
    for reduction in ("none", "mean"):
        found = getattr(F, name)(x, t, reduction=reduction)
        assert found.stride() == (value if reduction == "none" else ())
        assert torch.autograd.grad(found.sum(), x)[0].stride() == slope


def test_gradients_of_logits_with_a_positive_weight_follow_the_target() -> None:
    x = torch.zeros(3, 5, requires_grad=True)
    t = torch.zeros(5, 3).t().detach().requires_grad_()
    loss = F.binary_cross_entropy_with_logits(x, t, pos_weight=torch.ones(5))
    assert [g.stride() for g in torch.autograd.grad(loss, [x, t])] == [(1, 3), (5, 1)]
