"""Functions that take functions: branches, loops and scans."""

from typing import Any

import pytest
from rushlight._higher_order_ops import associative_scan, map, scan, while_loop

import rushlight as torch


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_an_associative_scan_of_sums_is_a_cumulative_sum(length: int, reverse: bool) -> None:
    x = torch.randn(2, length, 3, dtype=torch.float64)
    found = associative_scan(lambda a, b: a + b, x, 1, reverse, combine_mode="generic")
    wanted = x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)
    torch.testing.assert_close(found, wanted)


def test_an_associative_scan_of_pairs_solves_a_linear_recurrence() -> None:
    a = torch.rand(7, dtype=torch.float64, requires_grad=True)
    b = torch.rand(7, dtype=torch.float64, requires_grad=True)

    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    _, found = associative_scan(combine, (a, b), 0, combine_mode="generic")
    state, states = torch.zeros((), dtype=torch.float64), []
    for k in range(7):
        state = a[k] * state + b[k]
        states.append(state)
    wanted = torch.stack(states)
    torch.testing.assert_close(found, wanted)
    g = torch.randn(7, dtype=torch.float64)
    for one, other in zip(
        torch.autograd.grad(found, (a, b), g), torch.autograd.grad(wanted, (a, b), g)
    ):
        torch.testing.assert_close(one, other)


def test_an_associative_scan_sees_slices_without_the_dimension() -> None:
    x = torch.randn(5, 3, 3, dtype=torch.float64)
    found = associative_scan(lambda a, b: a @ b, x, 0, combine_mode="generic")
    torch.testing.assert_close(found[4], x[0] @ x[1] @ x[2] @ x[3] @ x[4])


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        ((3, torch.ones(2), 0), {}, ValueError, "must be a callable"),
        ((max, torch.ones(2), 0), {"combine_mode": "x"}, ValueError, "'pointwise' or 'generic'"),
        ((max, torch.ones(2), 0), {}, ValueError, "need to be on CUDA or XPU"),
        ((max, torch.ones(2), 1), {"combine_mode": "generic"}, IndexError, r"\[-1, 0\]"),
    ],
)
def test_a_wrong_associative_scan_says_why(
    args: Any, kwargs: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        associative_scan(*args, **kwargs)


def test_a_scan_carries_a_state_and_stacks_results_where_their_slices_were() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    carry, ys = scan(lambda c, v: (c + v, {"y": c * v}), torch.zeros(2), x, dim=1)
    assert carry.tolist() == [6.0, 15.0]
    assert ys["y"].tolist() == [[0.0, 2.0, 9.0], [0.0, 20.0, 54.0]]
    carry, y = scan(lambda c, v: (c + v, c * v), torch.zeros(3), x, reverse=True)
    assert y.tolist() == [[4.0, 10.0, 18.0], [0.0, 0.0, 0.0]]


def test_a_scan_is_differentiated() -> None:
    w = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    carry, ys = scan(lambda c, v: (c * v, c + v), torch.ones(3), w)
    (carry.sum() + ys.sum()).backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[6.0, 7.0, 8.0], [2.0, 3.0, 4.0]]


def test_a_map_stacks_what_a_function_gives_for_each_slice() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    double, total = map(lambda v, k: (v * k, v.sum()), x, 2)
    assert double.tolist() == (x * 2).tolist()
    assert total.tolist() == [1.0, 5.0, 9.0]


def test_a_loop_runs_while_its_condition_holds() -> None:
    i, v = while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), (torch.tensor(0), torch.ones(2))
    )
    assert (i.item(), v.tolist()) == (3, [8.0, 8.0])


def test_a_condition_chooses_a_branch_and_gradients_go_through_it() -> None:
    x = torch.ones(2, requires_grad=True)
    y = torch.cond(x.sum() > 1, lambda a: a * 2, lambda a: a * 3, (x,))
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0]
    assert torch.cond(False, lambda a: a + 1, lambda a: a - 1, (x.detach(),)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("x", abs, abs), "Expected pred to be bool or tensor, but got x."),
        ((torch.ones(2), abs, abs), "bool or single-element tensor"),
        ((True, 3, abs), "Expect both branches to be callable."),
        ((True, abs, abs, 3), "Expect operands to be a tuple"),
    ],
)
def test_a_wrong_condition_says_why(args: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        torch.cond(*args)
