"""Writes through views: whose history changes, which gradients flow, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def test_a_write_through_a_view_gives_the_base_a_new_node_and_both_the_right_gradient() -> None:
    x, w = leaf(1.0, 2.0, 3.0), leaf(10.0)
    y = x * 1
    v = y[1:]
    v.mul_(w)
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 10.0] and w.grad.tolist() == [5.0]


def test_a_write_to_the_base_is_in_the_history_of_its_views() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[1:]
    before = v.grad_fn
    y.mul_(10)
    assert v.grad_fn is not before
    v.sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 10.0]


def test_a_chain_of_views_writes_to_one_base() -> None:
    x = torch.arange(12.0).requires_grad_()
    y = x * 1
    part = y.view(3, 4).t()[1:].unsqueeze(0)[0, :, 2]
    assert part._base is y
    part.mul_(5)
    (y * torch.ones(12)).sum().backward()
    expected = [1.0] * 12
    for place in (9, 10, 11):
        expected[place] = 5.0
    assert x.grad.tolist() == expected


def test_overlapping_views_see_each_others_writes() -> None:
    x = torch.zeros(4, requires_grad=True)
    y = x * 1
    a, b = y[:3], y[1:]
    a.add_(1)
    b.mul_(5)
    assert a.tolist() == [1.0, 5.0, 5.0]
    a.sum().backward()
    assert x.grad.tolist() == [1.0, 5.0, 5.0, 0.0]


def test_a_view_taken_before_its_base_got_history_follows_it() -> None:
    w = torch.tensor(2.0, requires_grad=True)
    uses: list[Callable[[Any], Any]] = [
        lambda v: v * 3, lambda v: v.exp(), lambda v: v + 1, lambda v: torch.ones(2) + v,
        lambda v: v.sum(), lambda v: torch.cat([v, v]), lambda v: v.view(2, 1), lambda v: v[0],
        lambda v: v.clone(),
    ]  # fmt: skip
    for use in uses:
        z = torch.ones(4)
        v = z[:2]
        z.mul_(w)
        assert use(v).requires_grad
        fresh = torch.ones(4) * w
        (found,) = torch.autograd.grad(use(v).sum(), w)
        (expected,) = torch.autograd.grad(use(fresh[:2]).sum(), w)
        assert torch.equal(found, expected)


def test_second_derivatives_flow_through_rebased_histories() -> None:
    x, w = leaf(1.0, 2.0, 3.0), leaf(2.0, 3.0)
    y = x * x
    y[1:].mul_(w)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    h, mixed = torch.autograd.grad(g.sum(), (x, w))
    assert h.tolist() == [2.0, 4.0, 6.0] and mixed.tolist() == [4.0, 6.0]


def test_writes_that_replace_stop_the_old_gradient() -> None:
    for write in (lambda v: v.zero_(), lambda v: v.fill_(3.0), lambda v: v.copy_(torch.ones(2))):
        x = leaf(1.0, 2.0, 3.0)
        y = x * 2
        write(y[:2])
        y.sum().backward()
        assert x.grad.tolist() == [0.0, 0.0, 2.0]


def test_a_copy_into_a_view_sends_the_gradient_to_its_source() -> None:
    x, s = leaf(1.0, 2.0), torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
    y = x * 1
    y[:1].copy_(s)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [0.0, 3.0]
    assert s.grad.item() == 3.0 and s.grad.dtype == torch.float64


def test_leaves_and_their_views_refuse_recorded_writes() -> None:
    x = leaf(1.0, 2.0)
    for write in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.fill_(1.0),
        lambda: x.copy_(x.detach()),
    ):
        with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad"):
            write()
    for write in (lambda: x[0].add_(1), lambda: x.__setitem__(0, 1.0), lambda: x.view(2).zero_()):
        with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad"):
            write()
    with torch.no_grad():
        x[0] = 7.0
        x.view(2).mul_(2)
    assert x.tolist() == [14.0, 4.0] and x._version == 2


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("Unbind", lambda y: y.unbind()),
        ("Split", lambda y: y.split(2)),
        ("Split", lambda y: y.chunk(2)),
        ("SplitWithSizes", lambda y: y.split([2, 2])),
    ],
)
def test_one_of_several_views_refuses_writes_and_use_after_writes(
    name: str, pieces: Callable[[Any], Any]
) -> None:
    y = torch.zeros(4, requires_grad=True) * 1
    with pytest.raises(
        RuntimeError, match=rf"^Output 0 of {name} is a view and is being modified inplace"
    ):
        pieces(y)[0].add_(1)
    piece = pieces(y)[1]
    y.mul_(2)
    with pytest.raises(
        RuntimeError,
        match=rf"^Output 1 of {name} is a view and its base or another view of its base",
    ):
        piece * 2


def test_a_view_made_under_no_grad_refuses_recorded_writes_and_use_after_them() -> None:
    y = leaf(1.0, 2.0) * 1
    with torch.no_grad():
        v, w = y[:1], y[1:]
    with pytest.raises(
        RuntimeError, match=r"^A view was created in no_grad mode and is being modified"
    ):
        v.mul_(2)
    y.mul_(2)
    with pytest.raises(
        RuntimeError, match=r"^A view was created in no_grad mode and its base or another"
    ):
        _ = w.grad_fn
    plain = torch.zeros(2)
    with torch.no_grad():
        part = plain[:1]
        part.add_(1)
    assert plain.tolist() == [1.0, 0.0]


def test_detached_memory_may_be_written_but_the_version_is_shared() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    y.detach()[0] = 9.0
    assert y.tolist() == [9.0, 2.0] and y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_write_in_place_to_a_saved_value_through_a_view_is_found() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    y[0].mul_(3)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.sum().backward()


def test_a_base_that_was_turned_keeps_its_views_in_place() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    row = y[1]
    y.t_()
    row.mul_(10)
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [10.0, 30.0, 50.0]]


def test_a_view_that_was_turned_leaves_the_history_of_its_base() -> None:
    y = torch.ones(2, 3, requires_grad=True) * 1
    node = y.grad_fn
    view = y[:, 1:]
    view.t_()
    assert y.grad_fn is node and y._version == 1
    assert view.grad_fn.name() == "TBackward1" and view.shape == (2, 2)


def test_what_is_computed_from_an_unrecorded_view_has_an_edge_to_nowhere() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        view = x[1:]
    y = view * 2
    assert y.requires_grad and y.grad_fn.next_functions[0] == (None, 0)
    y.sum().backward()
    assert x.grad is None


def test_an_operand_that_follows_its_base_gets_its_gradient_beside_a_recorded_one() -> None:
    w = torch.tensor(3.0, requires_grad=True)
    base = torch.ones(2)
    view = base[:1]
    base.mul_(w)
    (g,) = torch.autograd.grad((w * view).sum(), w)
    assert g.item() == 6.0


def test_a_write_through_an_expanded_view_is_not_taken_back() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y.expand(3, 2).zero_()
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.autograd.grad(y.sum(), x)


def test_an_unneeded_gradient_still_finds_what_was_written() -> None:
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = x * w
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        torch.autograd.grad(y.sum(), x)


def test_a_second_backward_through_a_written_view_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y[:1].add_(1)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


@pytest.mark.parametrize("use", [
    lambda v: v.clamp(-9, 9), lambda v: torch.where(v > 0, v, v), lambda v: v.sort(),
    lambda v: torch.addcmul(v, v, v), lambda v: torch.nn.functional.linear(v, v),
    lambda v: torch.add(v, 1, out=torch.empty(2, 4)), lambda v: v * 2,
])  # fmt: skip
def test_without_gradients_a_view_that_cannot_follow_its_base_is_read(use: Any) -> None:
    leaf = torch.randn(4, 4, requires_grad=True)
    with torch.no_grad():
        view = leaf[:2]
        leaf.mul_(0.9)
        use(view)


def test_gradients_in_batches_go_through_writes_to_views() -> None:
    a = torch.rand(2, 2, requires_grad=True)
    b = torch.rand(2, requires_grad=True)
    out = a.clone()
    out[0].mul_(b)
    v = torch.rand(3, 2, 2)
    found = torch.autograd.grad(out, (a, b), v, is_grads_batched=True, retain_graph=True)
    each = [torch.autograd.grad(out, (a, b), w, retain_graph=True) for w in v]
    for k in range(2):
        torch.testing.assert_close(found[k], torch.stack([e[k] for e in each]))


def test_a_write_to_a_view_without_a_gradient_gives_none() -> None:
    a = torch.rand(2, 2, requires_grad=True)
    x = a.clone()
    x[0].mul_(2)

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    assert torch.autograd.grad(Nothing.apply(x).sum(), a, allow_unused=True)[0] is None


def test_a_view_that_requires_grad_through_its_base_is_differentiated_everywhere() -> None:
    def late(r):
        x = torch.ones(5, dtype=torch.double)
        view = x[1]
        x.add_(r)
        return view

    r = torch.ones(1, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(late, (r,))
    assert torch.func.grad(late)(r.detach()).tolist() == [1.0]
    assert torch.autograd.functional.jacobian(late, r).tolist() == [1.0]


def test_an_expanded_tensor_may_be_written_with_itself() -> None:
    a = torch.arange(3.0)
    v = a.expand(2, 3)
    v[...] = a
    v[:] = v.view(2, 3)
    assert v.tolist() == [[0.0, 1.0, 2.0]] * 2
    for value in (torch.arange(3.0), a.flip(0), a[:1]):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            v[...] = value


def test_the_gradient_through_a_written_view_is_itself_a_written_tensor() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    part = (x + 1).view_as(x)
    (g,) = torch.autograd.grad(
        torch.nn.functional.threshold_(part, 0.5, 0.0).pow(2).sum(), x, create_graph=True
    )
    assert g.grad_fn.name() == "torch::autograd::CopySlices"
    assert g.grad_fn.next_functions[1][0].name() == "ThresholdBackwardBackward0"
    (second,) = torch.autograd.grad(g.sum(), x)
    assert second.tolist() == [[2.0] * 3] * 2
