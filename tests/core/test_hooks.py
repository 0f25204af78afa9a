"""Hooks: their order, what they may replace, how they leave."""

import gc
import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight._base.annotations import AnyCallable


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_all_hooks_around_a_node_and_a_leaf_run_in_the_documented_order() -> None:
    x = leaf(2.0)
    y = x * 3
    order: list[str] = []
    y.grad_fn.register_hook(lambda gi, go: order.append("node post"))
    y.retain_grad()
    y.register_hook(lambda g: order.append("tensor"))
    y.grad_fn.register_prehook(lambda go: order.append("node pre"))
    x.register_hook(lambda g: order.append("leaf tensor"))
    x.register_post_accumulate_grad_hook(lambda t: order.append("leaf post accumulate"))
    end = y.grad_fn.next_functions[0][0]
    end.register_prehook(lambda go: order.append("accumulate pre"))
    end.register_hook(lambda gi, go: order.append("accumulate post"))
    y.backward()
    assert order == ["tensor", "node pre", "node post", "leaf tensor", "accumulate pre",
                     "leaf post accumulate", "accumulate post"]  # fmt: skip


def test_a_tensor_hook_replaces_the_gradient_for_everything_after_it() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [10.0, 10.0] and x.grad.tolist() == [31.0, 31.0]


def test_a_leaf_hook_sees_the_sum_of_one_backward_once() -> None:
    x = leaf(1.0)
    seen: list[float] = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * 2 + x * 3).backward()
    (x * 7).backward()
    assert seen == [5.0, 7.0]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (torch.ones(3), RuntimeError, "has changed the size of value"),
        (torch.ones(2, dtype=torch.float64), RuntimeError, "has changed the type of value"),
        (1.0, TypeError, "expected Variable, but hook returned 'float'"),
    ],
)
def test_a_hook_must_return_a_fitting_tensor(value: object, kind: type, text: str) -> None:
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: value)
    with pytest.raises(kind, match=text):
        (x * 1).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ((torch.ones(1),), RuntimeError, "incorrect number of values .got 1, but expected 2"),
        (torch.ones(1), TypeError, "expected tuple, but hook returned 'Tensor'"),
        ([torch.ones(1)], TypeError, "expected tuple, but hook returned 'list'"),
    ],
)
def test_a_node_hook_must_return_as_many_gradients(value: object, kind: type, text: str) -> None:
    z = leaf(2.0) * leaf(3.0)
    z.grad_fn.register_hook(lambda gi, go: value)
    with pytest.raises(kind, match=text):
        z.backward()


def test_a_node_hook_on_an_operation_without_saved_values_sees_both_gradients() -> None:
    x, y = leaf(2.0), leaf(3.0)
    z = x + y
    seen = []
    z.grad_fn.register_hook(lambda gi, go: seen.append([g.item() for g in gi + go]))
    z.backward()
    assert seen == [[1.0, 1.0, 1.0]]


def test_handles_remove_their_hook_and_are_contexts() -> None:
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 100)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: g * 7):
        (x * 1).backward()
    (x * 1).backward()
    assert x.grad.item() == 8.0


def test_a_handle_doesnt_keep_its_tensor_alive() -> None:
    import weakref

    x = leaf(1.0)
    handle = x.register_hook(lambda g: g)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None
    handle.remove()


def test_retained_gradients_follow_an_in_place_change_and_hooks_stay_behind() -> None:
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    seen: list[tuple[str, float]] = []
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("after", g.item())))
    assert y.retains_grad
    y.backward()
    assert y.grad.item() == 1.0 and x.grad.item() == 10.0
    assert seen == [("after", 1.0), ("before", 5.0)]


def test_a_base_goes_on_retaining_its_gradient_when_a_view_of_it_is_written() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y[0] = 5.0
    (y * y).sum().backward()
    assert y.grad.tolist() == [10.0, 8.0] and x.grad.tolist() == [0.0, 16.0]


def test_post_accumulate_hooks_may_free_the_gradient() -> None:
    x = leaf(4.0)

    def step(t: torch.Tensor) -> None:
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).backward()
    assert x.item() == 2.0 and x.grad is None


def test_hooks_need_a_tensor_that_requires_grad() -> None:
    for method in ("register_hook", "register_post_accumulate_grad_hook"):
        with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
            getattr(torch.ones(1), method)(print)
    with pytest.raises(
        RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"
    ):
        torch.ones(1).retain_grad()
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


def test_a_hook_of_a_recorded_backward_is_part_of_the_graph() -> None:
    x = leaf(2.0)
    x.register_hook(lambda g: g * x)
    (g,) = torch.autograd.grad(x * x * x, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    # The hook runs again on the second backward: 9 x² times x.
    assert g.item() == 24.0 and h.item() == 72.0


def test_a_hook_of_an_unused_output_gets_none_and_may_not_make_a_gradient() -> None:
    x = leaf(1.0, 2.0)
    a, b = (x * 2).split(1)
    seen = []
    handle = b.register_hook(seen.append)
    a.sum().backward(retain_graph=True)
    assert seen == [None]
    handle.remove()
    b.register_hook(lambda g: torch.ones(1))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        a.sum().backward()


def test_copies_warn_of_hooks_that_they_leave_behind() -> None:
    x = leaf(1.0)
    x.register_hook(print)
    with pytest.warns(UserWarning, match="on tensor will not be serialized"):
        again = pickle.loads(pickle.dumps(x))
    assert again.requires_grad and again._backward_hooks is None


def test_hooks_of_an_only_root_run_though_it_leads_to_no_wanted_input() -> None:
    x, other = leaf(1.0), leaf(2.0)
    for root in (x, x * 2):
        seen: list[bool] = []
        if not root.is_leaf:
            root.grad_fn.register_prehook(lambda go, seen=seen: seen.append(False))
            root.retain_grad()
        root.register_hook(lambda g, seen=seen: seen.append(True))
        root.backward(inputs=[other])
        assert seen == [True]
        assert root.is_leaf or root.grad.item() == 1.0
        torch.autograd.backward([root, other], inputs=[other])  # of several roots they don't run
        assert seen == [True]


def test_hooks_of_a_node_do_not_run_where_only_its_gradient_is_taken() -> None:
    y = leaf(1.0) * 2
    seen: list[str] = []
    y.grad_fn.register_prehook(lambda go: seen.append("node"))
    y.register_hook(lambda g: seen.append("tensor"))
    torch.autograd.grad(y, y)
    assert seen == ["tensor"]


def test_a_group_of_hooks_does_not_wait_for_the_only_root() -> None:
    x = leaf(1.0)
    y = x * 2
    seen: list[list[bool]] = []
    torch.autograd.graph.register_multi_grad_hook(
        [x, y], lambda gs: seen.append([g is None for g in gs])
    )
    y.backward()
    assert seen == [[True, False], [False, True]]


def test_what_is_asked_for_on_the_way_has_not_gone_through_its_hooks() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: g * 3)
    y.retain_grad()
    kept = {"retain_graph": True}
    on_the_way = torch.autograd.grad(y.sum(), [x, y], **kept)
    assert [g.tolist() for g in on_the_way] == [[3, 3], [1, 1]]
    assert y.grad.tolist() == [3, 3]
    assert torch.autograd.grad(y.sum(), y, **kept)[0].tolist() == [3, 3]
    first, second = x.expand(2, 2).unbind()
    first.register_hook(lambda g: g * 3)
    found = torch.autograd.grad((first + second).sum(), [x, first, second])
    assert [g.tolist() for g in found] == [[4, 4], [1, 1], [1, 1]]


def test_a_kept_gradient_that_a_finished_vmap_left_is_replaced():
    x = torch.randn(3, requires_grad=True) * 1
    x.retain_grad()
    y = x * 2
    for _ in range(2):
        torch.func.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(3))
    torch.autograd.grad(y, x, torch.ones(3))
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_leaf_takes_the_gradient_that_a_hook_has_made_for_it() -> None:
    x = torch.ones(3, requires_grad=True)
    end = x.view_as(x).grad_fn.next_functions[0][0]
    kept: list[torch.Tensor] = []
    x.register_hook(lambda g: g - 3)
    x.register_post_accumulate_grad_hook(lambda leaf: [leaf.grad.add_(0.5)].clear())
    end.register_hook(lambda _, outs: kept.append(outs[0].clone()))
    x.sum().backward()
    assert kept[0].tolist() == x.grad.tolist() == [-1.5] * 3


def test_a_leaf_copies_the_gradient_that_a_hook_has_kept() -> None:
    x = torch.ones(3, requires_grad=True)
    kept: list[torch.Tensor] = []
    x.register_hook(lambda g: kept.append(g))
    (x * 2).sum().backward()
    x.grad.add_(1)
    assert kept[0].tolist() == [2] * 3


def test_notes_about_the_end_of_an_edge_leave_its_gradient_alone() -> None:
    x = torch.ones(3, requires_grad=True)
    end = x.view_as(x).grad_fn.next_functions[0][0]
    end.metadata["note"] = 1
    x.sum().backward()
    assert x.grad.tolist() == [1] * 3


def test_a_node_before_a_leaf_whose_hook_raises_has_done_its_part() -> None:
    x = leaf(2.0)
    y = x.exp()
    handle = x.register_hook(lambda g: g.no_such_method())
    with pytest.raises(AttributeError):
        y.backward()
    handle.remove()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_a_hook_on_a_number_less_a_tensor_hears_of_the_tensors_gradient_alone() -> None:
    x = leaf(1.0, 2.0)
    y = 1 - x
    heard: list[int] = []

    def replace(grads: tuple[torch.Tensor, ...], outs: object) -> tuple[torch.Tensor]:
        heard.append(len(grads))
        return (grads[0] * 10,)

    y.grad_fn.register_hook(replace)
    y.sum().backward()
    assert heard == [1] and x.grad.tolist() == [-10.0, -10.0]
    assert len(y.grad_fn.next_functions) == 1
    both = x.__rsub__(leaf(3.0, 3.0))
    both.grad_fn.register_hook(lambda grads, outs: heard.append(len(grads)))
    both.sum().backward()
    assert heard == [1, 2] and both.grad_fn.name() == "RsubBackward0"


def test_a_bool_among_lists_of_tensors_is_a_number_to_the_graph() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    torch._foreach_mul_([y], True)
    assert y.grad_fn.name() == "MulBackward1"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def _hear(y: torch.Tensor) -> list[str]:
    """Which gradients of its inputs a hook on the node of a tensor is given."""
    heard: list[str] = []

    def note(grads: tuple[torch.Tensor | None, ...], outs: object) -> None:
        heard.append("".join("-" if g is None else "g" for g in grads))

    y.grad_fn.register_hook(note)
    return heard


@pytest.mark.parametrize("join", [torch.cat, torch.stack, torch.hstack, torch.vstack])
def test_who_hears_of_one_tensor_of_a_list_hears_of_all(join: AnyCallable) -> None:
    x, frozen = leaf(1.0, 2.0), torch.tensor([3.0, 4.0])
    y = join([x, frozen, x * 2])
    heard = _hear(y)
    y.sum().backward(retain_graph=True)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert heard == ["ggg", "ggg"] and g.tolist() == x.grad.tolist() == [3.0, 3.0]
    z = torch.block_diag(frozen, x)
    heard = _hear(z)
    z.sum().backward()
    assert heard == ["gg"] and frozen.grad is None


def test_a_joined_tensor_of_another_type_has_a_gradient_of_its_own_type_in_hooks() -> None:
    x = leaf(1.0, 2.0)
    y = torch.cat([torch.ones(2, dtype=torch.float64), x])
    types: list[object] = []
    y.grad_fn.register_hook(lambda grads, outs: types.extend(g.dtype for g in grads))
    y.sum().backward()
    assert types == [torch.float64, torch.float32] and x.grad.dtype == torch.float32


def test_a_formula_for_several_inputs_tells_hooks_of_those_that_were_asked_for() -> None:
    m = torch.eye(3) + 0.1
    calls = [
        torch.cdist,
        torch.linalg.solve,
        torch.cholesky_solve,
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
        lambda a, b: torch.linalg.householder_product(a, b[0]),
    ]
    for call in calls:
        for first in (True, False):
            a, b = m.clone().requires_grad_(first), m.clone().requires_grad_(not first)
            y = call(a, b)
            heard = _hear(y)
            y.sum().backward()
            assert heard == ["g-" if first else "-g"]


def test_hooks_of_a_custom_function_hear_of_all_that_its_backward_returned() -> None:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a * b

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return g, g * 2

    x, frozen = leaf(1.0, 2.0), torch.ones(2)
    y = Both.apply(x, frozen)
    heard = _hear(y)
    y.sum().backward()
    z = Both.apply(x, leaf(1.0, 1.0))
    also = _hear(z)
    torch.autograd.grad(z.sum(), x)
    assert heard == also == ["gg"] and x.grad.tolist() == [1.0, 1.0] and frozen.grad is None
