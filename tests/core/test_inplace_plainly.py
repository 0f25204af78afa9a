"""Elementwise operations that write plain tensors in place, the short way and the long one."""

from typing import Any

import pytest

import rushlight as torch


def both(change: Any) -> tuple[Any, Any]:
    """What a change makes of a tensor, and of one that is a view, which goes the long way."""
    base = torch.arange(1.0, 13.0).reshape(3, 4) / 7
    plain = base.clone()
    view = torch.cat([base, base])[:3]
    change(plain)
    change(view)
    return plain, view


CHANGES: dict[str, Any] = {
    "add_ with alpha": lambda x: x.add_(x.new_full((3, 4), 2.0), alpha=0.3),
    "sub_ with alpha": lambda x: x.sub_(x.new_full((4,), 2.0), alpha=3),
    "addcmul_": lambda x: x.addcmul_(torch.ones(3, 4), torch.full((4,), 2.0), value=-0.5),
    "addcdiv_": lambda x: x.addcdiv_(torch.ones(3, 4), torch.full((3, 1), 3.0), value=2),
    "lerp_": lambda x: x.lerp_(torch.zeros(3, 4), 0.25),
    "clamp_": lambda x: x.clamp_(min=0.5),
    "clamp_ with an integer": lambda x: x.clamp_(max=1),
    "neg_": lambda x: x.neg_(),
    "abs_": lambda x: x.neg_().abs_(),
    "pow_": lambda x: x.pow_(3),
    "sigmoid_": lambda x: x.sigmoid_(),
    "masked_fill_": lambda x: x.masked_fill_(x > 1, 0.0),
    "remainder_": lambda x: x.remainder_(0.4),
}


@pytest.mark.parametrize("name", CHANGES)
def test_both_ways_write_the_same(name: str) -> None:
    plain, view = both(CHANGES[name])
    assert torch.equal(plain, view)


def test_the_version_counts_each_write_once() -> None:
    x, y = torch.ones(3), torch.ones(3)
    before = x._version
    x.add_(y, alpha=2).addcmul_(y, y).neg_()
    assert x._version == before + 3


def test_what_records_is_recorded() -> None:
    w = torch.ones(3, requires_grad=True)
    x = torch.zeros(3)
    x.add_(w, alpha=3)
    x.sum().backward()
    assert x.requires_grad
    assert w.grad.tolist() == [3.0, 3.0, 3.0]


def test_a_leaf_that_requires_grad_is_refused() -> None:
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        w.addcmul_(torch.ones(3), torch.ones(3))
    with torch.no_grad():
        w.addcmul_(torch.ones(3), torch.ones(3))
    assert w.tolist() == [2.0, 2.0, 2.0]


def test_a_result_of_another_shape_is_refused_and_nothing_is_written() -> None:
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match="output with shape"):
        x.add_(torch.ones(2, 3), alpha=0.5)
    with pytest.raises(RuntimeError, match="must match the size"):
        x.add_(torch.ones(2), alpha=0.5)
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert x._version == 0


def test_a_comparison_writes_numbers_of_the_tensors_own_type() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    assert x.lt_(2.5) is x
    assert x.dtype is torch.float32
    assert x.tolist() == [1.0, 1.0, 0.0]


def test_counters_of_64_bits_are_written_as_integers() -> None:
    n = torch.tensor(4)
    n.add_(1)
    n.mul_(3).sub_(2)
    assert (n.item(), n.dtype) == (13, torch.int64)
    with pytest.raises(RuntimeError, match="can't be cast"):
        n.add_(0.5)
    with pytest.raises(RuntimeError, match="can't be cast"):
        n.div_(2)
    assert n.item() == 13


def test_integers_wrap_around_as_elsewhere() -> None:
    n = torch.tensor([2**62, -(2**62)])
    n.add_(2**62)
    assert n.tolist() == [-(2**63), 0]


def test_operands_that_share_memory_are_refused() -> None:
    x = torch.arange(6.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(x[:-1], alpha=2.0)


def test_a_view_made_without_recording_is_refused_by_its_own_message() -> None:
    y = torch.arange(4.0, requires_grad=True) * 1
    with torch.no_grad():
        view = y[:2]
    y.add_(1)
    with pytest.raises(RuntimeError, match="is being modified inplace with grad mode enabled"):
        view.add_(1)


@pytest.mark.parametrize("name", ["reciprocal_", "rad2deg_", "deg2rad_", "sqrt_"])
def test_integers_are_not_written_with_what_would_be_a_fraction(name: str) -> None:
    x = torch.tensor([1, 2, 3])
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        getattr(x, name)()
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype, apart", [(torch.float32, 4), (torch.float64, 8), (torch.int64, 8)])
def test_elements_that_lie_apart_are_negated_where_they_are(dtype: Any, apart: int) -> None:
    x = torch.arange(24).to(dtype)
    x[::apart].neg_()
    assert x[::apart].tolist() == [-n for n in range(0, 24, apart)]
    torch._foreach_neg_([x[::apart]])
    assert x.tolist() == list(range(24))
