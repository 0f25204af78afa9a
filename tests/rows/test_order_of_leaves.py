"""In which order the leaves of products accumulate, as hooks of a program see it."""

from typing import Any

import pytest

import rushlight as torch
from rushlight._base.annotations import AnyCallable


def _order(function: AnyCallable, *shapes: tuple[int, ...]) -> list[int]:
    """The numbers of the operands in the order in which their gradients are there."""
    heard: list[int] = []
    leaves = [torch.rand(*shape, requires_grad=True) for shape in shapes]

    def hear(number: int) -> AnyCallable:
        return lambda leaf: heard.append(number)

    for k, leaf in enumerate(leaves):
        leaf.register_post_accumulate_grad_hook(hear(k))
    function(*leaves).sum().backward()
    return heard


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,ij->ij", [(2, 3), (2, 3)]),
        ("ij,j->i", [(2, 3), (3,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 3)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ab,bc,cd,de->ae", [(2, 2)] * 4),
    ],
)
def test_the_last_operand_of_a_sum_of_products_accumulates_first(
    equation: str, shapes: list[tuple[int, ...]]
) -> None:
    last_first = list(range(len(shapes)))[::-1]
    assert _order(lambda *ts: torch.einsum(equation, *ts), *shapes) == last_first


def test_the_second_vector_of_an_inner_product_accumulates_first() -> None:
    assert _order(torch.inner, (3,), (3,)) == [1, 0]
    assert _order(torch.dot, (3,), (3,)) == [0, 1]


def test_three_matrices_that_cost_the_same_are_multiplied_from_the_left() -> None:
    def chain(*ts: torch.Tensor) -> Any:
        return torch.linalg.multi_dot(list(ts))

    assert _order(chain, (2, 2), (2, 2), (2, 2)) == [2, 0, 1]
    assert _order(chain, (1, 9), (9, 1), (1, 9)) == [2, 0, 1]
    assert _order(chain, (9, 1), (1, 9), (9, 1)) == [0, 1, 2]
    assert _order(chain, (1, 1), (1, 1), (1, 3), (3, 3)) == [0, 1, 2, 3]


def test_operands_that_are_no_leaves_are_not_looked_at_through_views() -> None:
    a, b = torch.rand(2, 2, requires_grad=True), torch.rand(2, 2)
    node: Any = torch.einsum("ij,jk->ik", a, b).grad_fn
    assert node.next_functions[0][0].variable is a
    with torch.no_grad():
        assert torch.einsum("ij,jk->ik", a, a).grad_fn is None
    number = torch.tensor(2.0, requires_grad=True)
    assert torch.einsum(",->", number, torch.tensor(3.0, requires_grad=True)).item() == 6.0


def test_attention_without_heads_brings_the_gradient_of_its_values_first() -> None:
    attend = torch.nn.functional.scaled_dot_product_attention
    assert _order(attend, (1, 3, 2), (1, 3, 2), (1, 3, 2)) == [2, 1, 0]
    assert _order(attend, (1, 1, 3, 2), (1, 1, 3, 2), (1, 1, 3, 2)) == [0, 1, 2]
    assert _order(attend, (3, 2), (3, 2), (3, 2), (3, 3)) == [2, 3, 1, 0]
