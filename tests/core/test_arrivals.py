"""Which of several leaves accumulates first, where one node completes them."""

from typing import Any

import pytest

import rushlight as torch

nn, F = torch.nn, torch.nn.functional


def arrivals(named: Any, compute: Any) -> list[str]:
    """The names of leaves in the order in which they get their gradients."""
    seen: list[str] = []
    heard: list[str] = []
    for name, leaf in named:
        leaf.register_hook(lambda g, name=name: heard.append(name))
        leaf.register_post_accumulate_grad_hook(lambda p, name=name: seen.append(name))
    compute().sum().backward()
    assert seen == heard
    return seen


def leaves(names: str) -> dict[str, Any]:
    return {name: torch.rand(3, requires_grad=True) for name in names}


@pytest.mark.parametrize("shape", [(3,), (2, 3), (5, 2, 3)])
def test_a_linear_layer_brings_its_bias_first(shape: tuple[int, ...]) -> None:
    layer = nn.Linear(3, 4)
    assert arrivals(layer.named_parameters(), lambda: layer(torch.ones(shape))) == [
        "bias", "weight",
    ]  # fmt: skip


def test_an_input_comes_before_or_after_the_weight() -> None:
    layer = nn.Linear(3, 4)
    for shape, order in (((2, 3), "bias x weight"), ((5, 2, 3), "bias weight x")):
        x = torch.rand(shape, requires_grad=True)
        named = [("x", x), *layer.named_parameters()]
        assert " ".join(arrivals(named, lambda x=x: layer(x))) == order


@pytest.mark.parametrize("kind", ["RNN", "GRU"])
def test_recurrent_layers_bring_what_is_next_to_the_state_first(kind: str) -> None:
    layer = getattr(nn, kind)(3, 4)
    names = arrivals(layer.named_parameters(), lambda: layer(torch.ones(5, 2, 3))[0])
    assert names == ["bias_hh_l0", "weight_hh_l0", "bias_ih_l0", "weight_ih_l0"]


def test_an_lstm_in_single_precision_is_one_node_with_four_leaves() -> None:
    layer = nn.LSTM(3, 4, 2)
    names = arrivals(layer.named_parameters(), lambda: layer(torch.ones(5, 2, 3))[0])
    assert names == [
        "weight_ih_l1", "weight_hh_l1", "bias_hh_l1", "bias_ih_l1",
        "weight_ih_l0", "bias_ih_l0", "weight_hh_l0", "bias_hh_l0",
    ]  # fmt: skip


def test_other_lstms_go_step_by_step() -> None:
    layer = nn.LSTM(3, 4, proj_size=2).double()
    x = torch.ones(5, 2, 3, dtype=torch.float64)
    names = arrivals(layer.named_parameters(), lambda: layer(x)[0])
    assert names == ["weight_hr_l0", "bias_hh_l0", "weight_hh_l0", "bias_ih_l0", "weight_ih_l0"]


@pytest.mark.parametrize("kind, first", [("RNNCell", "ih"), ("LSTMCell", "ih"), ("GRUCell", "hh")])
def test_cells_bring_the_part_that_is_computed_last_first(kind: str, first: str) -> None:
    cell = getattr(nn, kind)(3, 4)
    x = torch.ones(2, 3)
    names = arrivals(cell.named_parameters(), lambda: torch.cat(tuple(cell(x))))
    last = "hh" if first == "ih" else "ih"
    assert names == [f"bias_{first}", f"weight_{first}", f"bias_{last}", f"weight_{last}"]


@pytest.mark.parametrize("names, order", [
    ("uv", "uv"), ("uvw", "uvw"), ("uvwx", "uwvx"), ("uvwxy", "uwyvx"), ("uvwxyz", "uwzyvx"),
])  # fmt: skip
def test_leaves_of_one_node_come_as_a_heap_gives_equals(names: str, order: str) -> None:
    found = leaves(names)
    assert arrivals(found.items(), lambda: torch.stack(list(found.values()))) == list(order)


def test_a_leaf_that_stands_twice_comes_where_it_is_last() -> None:
    found = leaves("b")
    both = torch.rand(3, 3, requires_grad=True)
    named = [*found.items(), ("both", both)]
    assert arrivals(named, lambda: F.linear(both, both, found["b"])) == ["b", "both"]


def test_the_order_that_is_told_is_that_which_runs() -> None:
    layer = nn.Linear(3, 4)
    told: list[str] = []
    layer.bias.register_hook(
        lambda g: told.extend(
            "bias" if n.variable is layer.bias else "weight"
            for n in torch._C._current_graph_task_execution_order()
            if hasattr(n, "variable")
        )
    )
    with torch.autograd.set_multithreading_enabled(False):
        layer(torch.ones(2, 3)).sum().backward()
    assert told == ["bias", "weight"]


def test_losses_and_similarities_bring_the_later_term_first() -> None:
    for compute, order in (
        (lambda u, v: F.kl_div(u, v, reduction="sum"), "vu"),
        (lambda u, v: F.kl_div(u, v, reduction="sum", log_target=True), "vu"),
        (lambda u, v: F.cosine_similarity(u, v, dim=0), "vu"),
    ):
        found = leaves("uv")
        assert arrivals(found.items(), lambda f=compute, t=found: f(**t)) == list(order)


def test_a_node_with_a_number_of_its_own_runs_by_it_but_after_what_leads_to_it() -> None:
    x = torch.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    c = a + b
    seen: list[str] = []
    for number, (name, t) in enumerate({"a": a, "b": b, "c": c}.items()):
        t.grad_fn._set_sequence_nr(100 - number)
        assert t.grad_fn._sequence_nr() == 100 - number
        t.register_hook(lambda _, name=name: seen.append(name))
    c.sum().backward()
    assert seen == ["c", "a", "b"]
    assert x.grad.tolist() == [5, 5]
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        a.grad_fn._set_sequence_nr(-1)


@pytest.mark.parametrize("left, right, order", [
    ((2, 4, 3), (2, 3, 4), "ba"), ((2, 4, 3), (3, 4), "ba"), ((2, 4, 3), (3,), "ba"),
    ((3,), (3, 4), "ba"), ((4, 3), (2, 3, 4), "ab"), ((3,), (2, 3, 4), "ab"),
    ((4, 3), (3, 2), "ab"), ((4, 3), (3,), "ab"),
])  # fmt: skip
def test_the_second_stack_of_a_product_comes_first(
    left: tuple[int, ...], right: tuple[int, ...], order: str
) -> None:
    a, b = torch.randn(left, requires_grad=True), torch.randn(right, requires_grad=True)
    assert arrivals([("a", a), ("b", b)], lambda: a @ b) == list(order)
