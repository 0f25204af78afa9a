"""Gradients of which only the rows that were read are stored, and steps with them."""

import copy
import importlib
import subprocess
import sys

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

PLACES = torch.tensor([[1, 2], [1, 4]])


def _table(seed: int = 0) -> nn.Embedding:
    torch.manual_seed(seed)
    return nn.Embedding(6, 3, sparse=True)


def test_the_gradient_has_the_rows_that_were_read_in_their_order() -> None:
    table = _table()
    table(PLACES).sum().backward()
    grad = table.weight.grad
    assert grad.is_sparse and not grad.is_coalesced() and grad._nnz() == 4
    assert grad._indices().tolist() == [[1, 2, 1, 4]]
    assert grad.to_dense()[1].tolist() == [2.0, 2.0, 2.0]


def test_it_equals_the_dense_gradient() -> None:
    weight = torch.randn(6, 3, requires_grad=True)
    scale = torch.randn(2, 2, 3)
    for options in ({}, {"padding_idx": 1}):
        (sparse,) = torch.autograd.grad(
            (F.embedding(PLACES, weight, sparse=True, **options) * scale).sum(), weight
        )
        (dense,) = torch.autograd.grad(
            (F.embedding(PLACES, weight, **options) * scale).sum(), weight
        )
        assert torch.equal(sparse.to_dense(), dense)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags_give_the_dense_gradient_too(mode: str) -> None:
    weight = torch.randn(6, 3, requires_grad=True)
    flat, offsets = PLACES.reshape(-1), torch.tensor([0, 1])
    for options in ({}, {"padding_idx": 4}):
        found = [
            torch.autograd.grad(
                F.embedding_bag(flat, weight, offsets, mode=mode, sparse=sparse, **options).sum(),
                weight,
            )[0]
            for sparse in (True, False)
        ]
        assert found[0].is_sparse and torch.allclose(found[0].to_dense(), found[1])


def test_gradients_that_arrive_twice_are_added() -> None:
    table = _table()
    table(PLACES).sum().backward()
    table(PLACES).sum().backward()
    table(torch.tensor([0])).sum().backward()
    assert table.weight.grad.is_sparse
    assert table.weight.grad.to_dense().sum(1).tolist() == [3.0, 12.0, 6.0, 0.0, 6.0, 0.0]


@pytest.mark.parametrize("first", [True, False])
def test_a_dense_gradient_beside_a_sparse_one_makes_the_sum_dense(first: bool) -> None:
    weight = torch.randn(6, 3, requires_grad=True)
    F.embedding(PLACES, weight, sparse=first).sum().backward()
    F.embedding(PLACES, weight, sparse=not first).sum().backward()
    assert not weight.grad.is_sparse
    assert weight.grad.sum(1).tolist() == [0.0, 12.0, 6.0, 0.0, 6.0, 0.0]
    both = F.embedding(PLACES, weight, sparse=True).sum() + weight.sum()
    (found,) = torch.autograd.grad(both, weight)
    assert found.sum(1).tolist() == [3.0, 9.0, 6.0, 3.0, 6.0, 3.0]


def test_a_table_that_was_computed_gets_the_full_gradient() -> None:
    weight = torch.ones(6, 3, requires_grad=True)
    F.embedding(PLACES, weight * 2, sparse=True).sum().backward()
    assert weight.grad.sum(1).tolist() == [0.0, 12.0, 6.0, 0.0, 6.0, 0.0]


def test_hooks_see_and_give_sparse_gradients() -> None:
    weight = torch.ones(6, 3, requires_grad=True)
    seen: list[bool] = []
    weight.register_hook(lambda g: seen.append(g.is_sparse))
    weight.register_hook(lambda g: g * 2)
    F.embedding(PLACES, weight, sparse=True).sum().backward()
    assert seen == [True] and weight.grad.is_sparse
    assert weight.grad.to_dense()[2].tolist() == [2.0, 2.0, 2.0]


def test_the_gradient_that_is_recorded_is_dense() -> None:
    weight = torch.ones(6, 3, requires_grad=True)
    out = (F.embedding(PLACES, weight, sparse=True) ** 2).sum()
    (found,) = torch.autograd.grad(out, weight, create_graph=True)
    (again,) = torch.autograd.grad(found.sum(), weight)
    assert again[1].tolist() == [4.0, 4.0, 4.0]


@pytest.mark.parametrize("again", [False, True])
def test_scaling_by_frequency_is_refused(again: bool) -> None:
    weight = torch.ones(6, 3, requires_grad=True)
    out = F.embedding(PLACES, weight, sparse=True, scale_grad_by_freq=True).sum()
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse"):
        torch.autograd.grad(out, weight, create_graph=again)


def test_zero_grad_drops_or_empties_it() -> None:
    table = _table()
    table(PLACES).sum().backward()
    table.zero_grad(set_to_none=False)
    assert table.weight.grad.is_sparse and table.weight.grad._nnz() == 0
    table.zero_grad()
    assert table.weight.grad is None


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, lr=0.1),
        lambda p: optim.SGD(p, lr=0.1, maximize=True),
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.1),
    ],
)
def test_steps_move_as_with_the_dense_gradient(make: object) -> None:
    tables = [_table(), nn.Embedding(6, 3)]
    tables[1].load_state_dict(tables[0].state_dict())
    optimizers = [make(t.parameters()) for t in tables]
    for turn in range(4):
        for table, optimizer in zip(tables, optimizers, strict=True):
            optimizer.zero_grad()
            (table(torch.tensor([turn, 2, 2])) ** 2).sum().backward()
            optimizer.step()
    assert torch.allclose(tables[0].weight, tables[1].weight, atol=1e-6)


def test_sparse_adam_moves_only_rows_with_a_gradient() -> None:
    table = _table()
    before = table.weight.detach().clone()
    optimizer = optim.SparseAdam(table.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        table(PLACES).sum().backward()
        optimizer.step()
    moved = (table.weight.detach() - before).abs().sum(1) > 0
    assert moved.tolist() == [False, True, True, False, True, False]
    assert torch.allclose(before[1] - table.weight[1], torch.full((3,), 0.3), atol=1e-4)
    assert optimizer.state[table.weight]["step"] == 3


def test_rules_without_a_sparse_step_say_so() -> None:
    table = _table()
    table(PLACES).sum().backward()
    for name in ("RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor"):
        with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients"):
            getattr(optim, name)(table.parameters()).step()
    for name in ("Adam", "AdamW"):
        with pytest.raises(RuntimeError, match="please consider SparseAdam instead"):
            getattr(optim, name)(table.parameters()).step()
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible"):
        optim.Adagrad(table.parameters(), weight_decay=0.1).step()
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        optim.SGD(table.parameters(), lr=0.1, weight_decay=0.1).step()


def test_zeros_like_a_sparse_tensor_are_sparse_without_elements() -> None:
    found = torch.zeros_like(torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (4,)))
    assert found.is_sparse and found._nnz() == 0 and found.shape == (4,)


def test_a_dense_tensor_takes_a_sparse_one_in_place() -> None:
    dense, sparse = torch.zeros(4), torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (4,))
    dense.add_(sparse, alpha=-0.5)
    dense.sub_(sparse)
    assert dense.tolist() == [-1.5, 0.0, -3.0, 0.0]


def test_a_gradient_is_filled_with_zeros_before_anything_else_of_sparse_tensors_is_used() -> None:
    program = (
        "import rushlight as torch; table = torch.nn.Embedding(6, 3, sparse=True); "
        "table(torch.tensor([1, 2])).sum().backward(); print(table.weight.grad.zero_()._nnz())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr


def test_a_custom_function_passes_a_sparse_gradient_on() -> None:
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            assert g.layout is torch.sparse_coo
            return g, g

    a, b = (torch.zeros(5, 2, requires_grad=True) for _ in range(2))
    rows = torch.tensor([1, 3, 3])
    for times in (1, 2):
        torch.nn.functional.embedding(rows, Sum.apply(a, b), sparse=True).sum().backward()
        for leaf in (a, b):
            assert leaf.grad.layout is torch.sparse_coo
            assert leaf.grad.to_dense()[:, 0].tolist() == [0, times, 0, 2 * times, 0]
    assert a.grad is not b.grad


def test_a_leaf_keeps_the_gradient_that_takes_another_up(monkeypatch: pytest.MonkeyPatch) -> None:
    warned = importlib.import_module("rushlight.autograd.backward")._Warned
    monkeypatch.setattr(warned, "cycles", True)  # it has warned of a recorded backward

    def sparse() -> torch.Tensor:
        return torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.ones(2))

    for first, second, same in (
        (sparse(), torch.ones(2), False),
        (sparse(), sparse(), True),
        (torch.ones(2), sparse(), True),
    ):
        for create_graph in (False, True):
            x = torch.zeros(2, requires_grad=True)
            x.grad = first
            x.backward(second, create_graph=create_graph)
            assert (x.grad is first) is (same and not create_graph)
            assert x.grad.to_dense()[1].item() >= 3


def test_hooks_of_a_sparse_tensor_see_and_replace_sparse_gradients() -> None:
    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]]).to_sparse().requires_grad_()
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append((g.layout, g.values().tolist())))
    removed = y.register_hook(lambda g: g * 100)
    y.register_hook(lambda g: g * 3)
    removed.remove()
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf is x))
    y.to_dense().sum().backward()
    assert seen == [(torch.sparse_coo, [1.0, 1.0, 1.0]), True]
    assert x.grad.values().tolist() == [6.0, 6.0, 6.0]
    assert y.retains_grad and y.grad.layout is torch.sparse_coo
    y = x * 2
    y.register_hook(lambda g: g.to_dense())
    with pytest.raises(RuntimeError, match=r"was torch.sparse.FloatTensor got torch.FloatTensor"):
        y.to_dense().sum().backward()
    z = torch.ones(2, requires_grad=True) * 1
    z.register_hook(lambda g: g.to_sparse())
    with pytest.raises(RuntimeError, match=r"was torch.FloatTensor got torch.sparse.FloatTensor"):
        z.sum().backward()


def test_gradcheck_refuses_a_sparse_gradient_of_a_dense_input() -> None:
    class Sparse(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g.to_sparse()

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    for fast in (True, False):
        with pytest.raises(RuntimeError, match=r"sparse_coo is not torch.strided"):
            torch.autograd.gradcheck(Sparse.apply, (x,), check_batched_grad=False, fast_mode=fast)


@pytest.mark.parametrize("convert", ["to_sparse_coo", "to_sparse_csr", "to_sparse_csc"])
def test_a_gradient_is_assigned_and_copied(convert: str) -> None:
    x, g = getattr(torch.zeros(3, 3), convert)(), getattr(torch.eye(3), convert)()
    x.grad = g
    assert x.grad is g
    copied = copy.deepcopy(x)
    assert copied.grad is not g and torch.equal(copied.grad.to_dense(), torch.eye(3))
    with pytest.raises(RuntimeError, match="data of a different type"):
        x.grad = torch.eye(3)
    with pytest.raises(RuntimeError, match="gradient of size"):
        x.grad = getattr(torch.eye(2), convert)()
    x.grad = None
    assert x.grad is None


def test_copies_have_places_of_their_own() -> None:
    rows = torch.eye(3).to_sparse_csr()
    plain = torch.eye(3).to_sparse()
    for made in (rows.clone(), rows.to(torch.float64), rows.to("cpu", copy=True)):
        assert made.crow_indices().data_ptr() != rows.crow_indices().data_ptr()
        assert made.col_indices().data_ptr() != rows.col_indices().data_ptr()
    assert rows.to("cpu").crow_indices().data_ptr() == rows.crow_indices().data_ptr()
    for made in (plain.clone(), plain.to(torch.float64), plain.to("cpu", copy=True)):
        assert made._indices().data_ptr() != plain._indices().data_ptr()


@pytest.mark.parametrize("fast", [True, False])
def test_gradcheck_refuses_a_hooks_gradient_with_other_sparse_dimensions(fast: bool) -> None:
    def given(form: int):
        def function(x: torch.Tensor) -> torch.Tensor:
            y = x.clone()
            y.register_hook(lambda g: None if g is None else g.to_dense().to_sparse(form))
            return y.to_dense()

        return function

    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True).to_sparse()
    options = {"masked": True, "check_batched_grad": False, "fast_mode": fast}
    assert torch.autograd.gradcheck(given(2), (x,), **options)
    with pytest.raises(RuntimeError, match="grad is sparse tensor, but has incorrect sparse_dim"):
        torch.autograd.gradcheck(given(1), (x,), **options)


def test_a_node_shows_the_sparse_tensors_whose_values_it_has_saved() -> None:
    x = torch.sparse_coo_tensor([[1, 1]], [1.0, 2.0], (3,), requires_grad=True)
    product = x * x
    saved = product.grad_fn._saved_self
    assert saved.is_sparse and saved.to_dense().tolist() == [0.0, 3.0, 0.0]
    assert product.grad_fn._saved_other.is_sparse
    root = x.sin().grad_fn
    assert root._saved_self.is_sparse
    product.to_dense().sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        product.grad_fn._saved_self  # noqa: B018
