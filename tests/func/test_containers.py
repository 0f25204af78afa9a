"""Transforms take registered classes apart; packages may replace the steps of `vmap`."""

import pytest
from rushlight._C import _functorch as wrappers
from rushlight._functorch import autograd_function, make_functional, package, vmap as steps

import rushlight as torch
from rushlight.utils import _pytree


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


_pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda parts, _: Pair(*parts))


def test_vmap_takes_a_registered_class_apart():
    found = torch.vmap(lambda p: Pair(p.a.sum(), p.b + 1))(Pair(torch.ones(3, 2), torch.ones(3)))
    assert found.a.tolist() == [2.0] * 3
    assert found.b.tolist() == [2.0] * 3


def test_grad_gives_the_registered_class():
    found = torch.func.grad(lambda p: (p.a**2).sum() + p.b.sum())(
        Pair(torch.ones(3), torch.ones(2))
    )
    assert found.a.tolist() == [2.0] * 3
    assert found.b.tolist() == [1.0] * 2


def test_results_with_names_are_containers():
    leaves, spec = _pytree.tree_flatten(torch.max(torch.eye(2), 0))
    assert len(leaves) == 2
    assert _pytree.tree_unflatten(leaves, spec).indices.tolist() == [0, 1]
    assert _pytree.is_structseq_instance(torch.max(torch.eye(2), 0))
    assert not _pytree.is_structseq_instance((1, 2))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [(0, [0] * 4), (None, [None] * 4), ((0, 1, 2), [0, 1, 1, 2]), ((0, [1, 2], 3), [0, 1, 2, 3]),
     ((0, [1], 3), None), ((0, 1), None), ([0, 1, 2], None), ((0, None, {"b": 1}), None)],
)  # fmt: skip
def test_a_prefix_is_spread_over_the_leaves(tree, expected):
    spec = _pytree.tree_structure((1, [2, 3], {"a": 4}))
    assert _pytree._broadcast_to_and_flatten(tree, spec) == expected


def test_wrappers_tell_their_batch():
    x = torch.arange(6.0).reshape(2, 3)
    seen = []

    def f(row):
        seen.append((wrappers.is_batchedtensor(row), wrappers.maybe_get_bdim(row)))
        seen.append(wrappers.get_unwrapped(row) is x)
        seen.append(wrappers.maybe_current_level())
        return row.sum()

    torch.vmap(f, in_dims=1)(x)
    assert seen == [(True, 1), True, 1]
    assert not wrappers.is_batchedtensor(x)
    assert wrappers.maybe_get_bdim(x) == -1
    assert wrappers.maybe_current_level() is None


def test_a_vmap_can_be_entered_by_number():
    level = wrappers._vmap_increment_nesting(2, "error")
    row = wrappers._add_batch_dim(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 0, level)
    total = wrappers._remove_batch_dim(row.sum(), level, 2, 0)
    assert wrappers._vmap_decrement_nesting() == level
    assert total.tolist() == [3.0, 7.0]


def test_replaced_steps_are_the_ones_that_vmap_takes(monkeypatch):
    called = []
    own = steps._unwrap_batched

    def unwrap(*args):
        called.append(args[2])
        return own(*args)

    monkeypatch.setattr(steps, "_unwrap_batched", unwrap)
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.vmap(lambda r: (r.sum(), r * 2), out_dims=(0, 1))(x)[1].shape == (2, 3)
    assert torch.vmap(lambda r: r.sum(), chunk_size=2)(x).tolist() == [1.0, 5.0, 9.0]
    assert called == [1, 1, 1]


def test_make_functional_calls_the_module_with_other_parameters():
    linear = torch.nn.Linear(2, 1)
    function, parameters = make_functional.make_functional(linear)
    zeros = [torch.zeros_like(p) for p in parameters]
    assert function(zeros, torch.ones(1, 2)).item() == 0.0
    assert [p.requires_grad for p in parameters] == [True, True]
    assert torch.equal(function(parameters, torch.ones(1, 2)), linear(torch.ones(1, 2)))


def test_make_functional_refuses_buffers():
    with pytest.raises(RuntimeError, match="has buffers"):
        make_functional.make_functional(torch.nn.BatchNorm1d(2))


def test_an_ensemble_runs_under_vmap():
    models = [torch.nn.Linear(2, 1) for _ in range(3)]
    function, parameters, buffers = make_functional.combine_state_for_ensemble(models)
    x = torch.ones(1, 2)
    found = torch.vmap(function, in_dims=(0, 0, None))(parameters, buffers, x)
    assert torch.allclose(found, torch.stack([m(x) for m in models]))


def test_functorch_says_that_its_functions_have_moved():
    with pytest.warns(FutureWarning, match="functorch.vmap"):
        assert package.vmap(lambda x: x + 1)(torch.zeros(2)).tolist() == [1.0, 1.0]


def test_an_ensemble_is_made_of_a_class():
    weights, function, names = make_functional.functional_init(torch.nn.Linear, (4,))(2, 1)
    assert [w.shape for w in weights] == [(4, 1, 2), (4, 1)] and names == ("weight", "bias")
    x = torch.randn(4, 3, 2)
    found = torch.vmap(function)(weights, (x,))
    torch.testing.assert_close(found, x @ weights[0].mT + weights[1][:, None])
    with pytest.raises(ValueError, match="should be > 0"):
        make_functional.functional_init(torch.nn.Linear, (0,))(2, 1)
    params, buffers, *_ = make_functional.functional_init_with_buffers(torch.nn.BatchNorm1d, (3,))(
        2
    )
    assert [b.shape for b in buffers] == [(3, 2), (3, 2), (3,)] and len(params) == 2


def test_a_gradient_gets_the_batch_of_its_input():
    leaf = autograd_function.reductify_leaf
    g = torch.randn(3, 2, 4)
    assert leaf(None, 0, 0, 2) is None and leaf(g, None, None, 2) is g
    assert leaf(g, 1, None, 2).equal(g.sum(1)) and leaf(g, 1, 0, 2).equal(g.movedim(1, 0))
    assert leaf(g[:, 0], None, 1, 5).stride() == (8, 0, 1)
    assert leaf(g, 1, 0, 2, (3, 1)).equal(g.movedim(1, 0).sum(2, keepdim=True))


def test_a_context_stands_for_another_one():
    class Plain:
        pass

    inner = Plain()
    outer = autograd_function.CtxWithSavedTensors(inner, (1,))
    outer.x = 3
    assert inner.x == 3 and outer.saved_tensors == (1,)
    inner._pt_new_saved_tensors = 1
    autograd_function.WrappedCtx(inner)
    with pytest.raises(RuntimeError, match=r"PyTorch reserves the .* name collision"):
        autograd_function.CtxWithSavedTensors(inner, ())
