"""Sparse gradients of embeddings: how they print, add up, and what optimizers do with them."""

import importlib

import torch

nn = importlib.import_module(f"{torch.__name__}.nn")
optim = importlib.import_module(f"{torch.__name__}.optim")
F = nn.functional
_OTHERS = ("Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop")
_PLACES = [[1, 2], [1, 4]]
importlib.import_module(f"{torch.__name__}.sparse").check_sparse_tensor_invariants.disable()


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, str(error).split("\n")[0])


def gradients_have_the_rows_that_were_read():
    x = torch.tensor(_PLACES)
    torch.manual_seed(0)
    table = nn.Embedding(6, 3, sparse=True)
    table(x).sum().backward()
    print(table.weight.grad, table.weight.grad.coalesce())
    (table(x) * 2).sum().backward()
    print(table.weight.grad)
    table.zero_grad()
    (table(x).sum() + (table(torch.tensor([0])) ** 2).sum()).backward()
    print(table.weight.grad)
    table.zero_grad(set_to_none=False)
    print(table.weight.grad)
    table = nn.Embedding(6, 3, sparse=True, padding_idx=1)
    table(x).sum().backward()
    table(torch.tensor([3])).sum().backward()
    print(table.weight.grad)
    _told(lambda: nn.Embedding(6, 3, sparse=True, scale_grad_by_freq=True)(x).sum().backward())


def dense_and_sparse_ones_add_up():
    x = torch.tensor(_PLACES)
    w = torch.ones(6, 3, requires_grad=True)
    print(torch.autograd.grad(F.embedding(x, w, sparse=True).sum(), w))
    for first in (True, False):
        w.grad = None
        F.embedding(x, w, sparse=first).sum().backward()
        F.embedding(x, w, sparse=not first).sum().backward()
        print(w.grad)
    w.grad = None
    w.register_hook(lambda g: g * 2)
    F.embedding(x, w, sparse=True).sum().backward()
    print(w.grad)


def bags_have_them_too():
    x = torch.tensor(_PLACES)
    for options in ({"mode": "sum"}, {"mode": "mean"}, {"mode": "mean", "padding_idx": 1}):
        bag = nn.EmbeddingBag(6, 3, sparse=True, **options)
        bag(x).sum().backward()
        print(bag.weight.grad)
    bag = nn.EmbeddingBag(6, 3, sparse=True, mode="sum")
    scales = torch.tensor([0.5, 1.0, 2.0, 3.0])
    bag(torch.tensor([1, 2, 3, 1]), torch.tensor([0, 2]), scales).sum().backward()
    print(bag.weight.grad)
    _told(lambda: nn.EmbeddingBag(6, 3, sparse=True, mode="max")(x))


def _steps(make, count=3):
    torch.manual_seed(1)
    table = nn.Embedding(6, 3, sparse=True)
    optimizer = make(list(table.parameters()))
    for k in range(count):
        optimizer.zero_grad()
        (table(torch.tensor([k, 2, 2])) ** 2).sum().backward()
        optimizer.step()
    print(table.weight.detach())
    for state in optimizer.state.values():
        print({k: v.is_sparse if torch.is_tensor(v) else v for k, v in state.items()})


def optimizers_step_with_them():
    for make in (
        lambda p: optim.SGD(p, lr=0.1),
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1),
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda p: optim.SparseAdam(p, lr=0.1),
        lambda p: optim.SparseAdam(p, lr=0.1, maximize=True),
        lambda p: optim.Adagrad(p, lr=0.1),
        lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.1),
    ):
        _steps(make)


def the_others_refuse_them():
    for name in _OTHERS:
        _told(lambda name=name: _steps(getattr(optim, name), 1))
    _told(lambda: _steps(lambda p: optim.Adagrad(p, weight_decay=0.1), 1))
    _told(lambda: _steps(lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1), 1))


def sparse_tensors_have_likes_and_join_dense_ones():
    s = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (4,))
    print(torch.zeros_like(s), torch.empty_like(s)._nnz())
    d = torch.zeros(4)
    d.add_(s, alpha=-0.5)
    print(d, d + s, d.sub_(s))
