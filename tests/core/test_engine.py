"""The engine: where gradients go, in what order nodes run, when saved values are freed."""

import importlib

import pytest

import rushlight as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_gradients_of_several_backwards_add_up_in_the_same_tensor() -> None:
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [4.0, 8.0]


def test_a_diamond_sends_each_node_one_summed_gradient() -> None:
    x = leaf(1.0)
    y, seen = x, []
    for _ in range(30):
        y = y + y
        y.register_hook(lambda g: seen.append(g.item()))
    y.backward()
    assert x.grad.item() == 2.0**30
    assert seen == [2.0**k for k in range(30)]


def test_nodes_run_from_the_youngest_to_the_oldest() -> None:
    x = leaf(1.0)
    order: list[str] = []
    a, b = x * 2, x * 3
    c = a + b
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: order.append(name))
    c.backward()
    assert order == ["c", "b", "a"]


def test_contributions_to_a_leaf_are_added_in_the_order_of_their_consumers() -> None:
    # float32 addition isn't associative: another order would give 0.
    x = leaf(1.0)
    small, plus, minus = x * 1.0, x * 1e8, x * -1e8
    (small + plus + minus).backward()
    assert x.grad.item() == 1.0


def test_a_leaf_accumulates_as_soon_as_its_last_contribution_is_there() -> None:
    x, y = leaf(1.0), leaf(1.0)
    order: list[str] = []
    early = x * 2
    late = y * 3
    x.register_post_accumulate_grad_hook(lambda t: order.append("x"))
    y.register_post_accumulate_grad_hook(lambda t: order.append("y"))
    (early + late).backward()
    assert order == ["y", "x"]


def test_a_freed_graph_refuses_a_second_backward_and_a_kept_one_doesnt() -> None:
    x = leaf(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.item() == 12.0


def test_a_graph_that_saved_nothing_runs_again() -> None:
    x = leaf(3.0)
    y = x + x
    y.backward()
    y.backward()
    assert x.grad.item() == 4.0


def test_create_graph_gives_gradients_of_gradients() -> None:
    x = leaf(2.0)
    values, y = [], x * x * x * x
    for _ in range(4):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        values.append(y.item())
    assert values == [32.0, 48.0, 48.0, 24.0]
    assert not y.requires_grad


def test_a_raising_hook_leaves_the_engine_usable_and_keeps_finished_gradients() -> None:
    x, y = leaf(1.0), leaf(1.0)
    a = x * 2
    b = y * 3

    def refuse(g: torch.Tensor) -> None:
        raise ValueError("stop")

    handle = a.register_hook(refuse)
    total = a + b
    with pytest.raises(ValueError, match="stop"):
        total.backward(retain_graph=True)
    assert x.grad is None and y.grad.item() == 3.0
    handle.remove()
    total.backward()
    assert x.grad.item() == 2.0 and y.grad.item() == 6.0


def test_nothing_of_an_aborted_run_is_left_in_the_vertices() -> None:
    x = leaf(1.0)
    a, b = x * 2, x * 5

    def refuse(g: torch.Tensor) -> None:
        raise KeyError("gone")

    handle = a.register_hook(refuse)
    total = a + b
    with pytest.raises(KeyError):
        total.backward(retain_graph=True)
    handle.remove()
    total.backward()
    assert x.grad.item() == 7.0


def test_a_tensor_that_became_part_of_a_graph_is_no_leaf_to_accumulate_into() -> None:
    x, w = leaf(1.0), leaf(2.0)
    y = x * 3
    x.requires_grad_(False)
    x.mul_(w)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.backward()


def test_a_leaf_that_was_frozen_since_gets_no_gradient() -> None:
    x = leaf(1.0)
    y = x * 3
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_a_stolen_gradient_is_never_an_array_that_somebody_else_holds() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seed = torch.ones(2)
    (x + y).backward(seed)
    x.grad.mul_(7.0)
    assert y.grad.tolist() == [1.0, 1.0] and seed.tolist() == [1.0, 1.0]


def test_callbacks_run_when_the_whole_backward_is_done() -> None:
    x = leaf(1.0)
    order: list[str] = []
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y = x * 2
    y.register_hook(lambda g: queue(lambda: order.append("callback")))
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    assert order == ["leaf", "callback"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward"):
        queue(lambda: None)


def test_the_second_accumulation_of_a_recorded_backward_is_a_new_tensor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warned = importlib.import_module("rushlight.autograd.backward")._Warned
    monkeypatch.setattr(warned, "cycles", False)  # it warns once in a process
    x = leaf(2.0)
    (x * 1).backward()
    first = x.grad
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (x * x).backward(create_graph=True)
    assert x.grad is not first and first.item() == 1.0
    assert x.grad.requires_grad and x.grad.item() == 5.0


def test_a_gradient_that_passes_unchanged_is_the_tensor_given() -> None:
    x, seed = torch.ones(2, requires_grad=True), torch.ones(2)
    assert torch.autograd.grad(x, x, seed)[0] is seed
    assert torch.autograd.grad(x + 1, x, seed)[0] is seed


def test_a_leaf_that_isnt_dense_gets_a_gradient_in_order() -> None:
    x = torch.ones(2, 3).expand(4, 2, 3).detach().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == (6, 3, 1)


def test_an_expanded_gradient_cannot_be_added_to() -> None:
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        (x * 2).sum().backward()


def test_a_hook_may_write_the_gradient_of_a_single_number() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: g.mul_(2))
    y.sum().backward()
    assert x.grad.item() == 2.0


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("hooked", [True, False])
def test_no_leaf_gets_anything_from_a_node_that_fails(first: bool, hooked: bool) -> None:
    leaf = torch.ones(4, requires_grad=True)
    x = torch.ones(4, requires_grad=True)
    other = x * 2
    called = []
    if hooked:
        leaf.register_post_accumulate_grad_hook(called.append)
    product = leaf * other if first else other * leaf  # `leaf` is written: `other` can't have its
    with torch.no_grad():
        leaf.mul_(0.9)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (product.sum() + leaf.sum()).backward()
    assert leaf.grad is None and x.grad is None and not called


def test_leaves_of_a_node_accumulate_in_the_order_of_its_inputs() -> None:
    leaves = [torch.ones(3, requires_grad=True) for _ in range(3)]
    order: list[int] = []
    for k, leaf in enumerate(leaves):
        leaf.register_post_accumulate_grad_hook(lambda _, k=k: order.append(k))
    torch.addcmul(*leaves).sum().backward()
    assert order == [0, 1, 2]


@pytest.mark.parametrize("first", ["turned", "plain"])
def test_a_sum_of_gradients_is_laid_out_as_the_one_that_came_first(first):
    """Strides that differ change the order in which later sums round."""

    class Giving(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, order):
            ctx.order = order
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return (torch.ones(3, 2).t() if ctx.order == "turned" else torch.ones(2, 3)), None

    second = "plain" if first == "turned" else "turned"
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    found = []
    y.register_hook(lambda g: found.append(g.stride()))
    older, younger = Giving.apply(y, second), Giving.apply(y, first)  # the younger one runs first
    (older + younger).sum().backward()
    assert found == [(1, 2) if first == "turned" else (3, 1)]


def test_a_compiled_step_sums_gradients_of_other_layouts_to_the_same_bits():
    def step(x, a):
        v = a * x.mean()
        outer = torch.einsum("i,j->ij", a.reshape(-1), v.reshape(-1))
        (v.clamp(-9, 9).mean() + outer.clamp(-9, 9).mean()).backward()

    compiled = torch.compile(step, options={"native": False})
    torch.manual_seed(0)
    plain = torch.randn(4, dtype=torch.float64, requires_grad=True)
    replayed = plain.detach().clone().requires_grad_()
    for _ in range(40):
        a = torch.randn(2, 2, dtype=torch.float64).t()
        plain.grad = replayed.grad = None
        step(plain, a)
        compiled(replayed, a)
        assert plain.grad.tolist() == replayed.grad.tolist()
