"""Subclasses that say below autograd what operations do, with memory of their own or without."""

import importlib

import torch
from observation import near, outcome

_pytree = importlib.import_module(f"{torch.__name__}.utils._pytree")
F = torch.nn.functional


class _Held(torch.Tensor):
    """Keeps its elements in an attribute."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), dtype=held.dtype, device=held.device,
            requires_grad=held.requires_grad,
        )  # fmt: skip

    def __init__(self, held):
        self.held = held.detach()

    def __repr__(self):
        return f"Held({self.held.tolist()})"

    seen: list[str] = []

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(str(func))

        def bare(x):
            return x.held if isinstance(x, cls) else x

        def dressed(x):
            return cls(x) if isinstance(x, torch.Tensor) else x

        out = func(*_pytree.tree_map(bare, args), **_pytree.tree_map(bare, kwargs or {}))
        return _pytree.tree_map(dressed, out)


def _held(*shape) -> _Held:
    size = torch.Size(shape).numel()
    return _Held(torch.arange(1.0, size + 1).reshape(shape) / size)


def a_wrapper_looks_like_what_it_stands_for() -> None:
    x = _Held(torch.ones(2, 3, dtype=torch.float64).t())
    print(tuple(x.shape), x.dtype, x.device, x.stride(), x.is_cpu, x.is_meta, x.requires_grad)
    print(x.numel(), x.dim(), len(x), x.is_contiguous(), x.data_ptr())


def operations_give_wrappers() -> None:
    _Held.seen.clear()
    x = _held(2, 3)
    for out in (x * 2 + 1, x.sum(), x @ torch.ones(3, 2), x[0], x.t(), torch.cat([x, x]),
                torch.where(x > 0.5, x, -x), x.unbind()[1], torch.max(x, 1)):
        print(out)
    print(_Held.seen)


def tensors_made_after_a_wrapper() -> None:
    x = _held(2)
    print(torch.zeros_like(x), torch.ones_like(x), x.detach(), x.clone(), x.new_zeros(3))


def gradients_of_wrappers() -> None:
    w = _held(3, 2).requires_grad_()
    (torch.ones(2, 3) @ w).tanh().exp().sum().backward()
    near(w.grad.held)
    print(type(w.grad).__name__)
    w.square().sum().backward()
    near(w.grad.held)


def gradients_of_gradients_of_wrappers() -> None:
    w = _held(3).requires_grad_()
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), w)
    near(h.held)
    (g,) = torch.autograd.grad(w.exp().sum(), w, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), w)
    near(h.held)


def a_plain_leaf_may_get_a_wrapper_as_gradient() -> None:
    p = torch.ones(3, 2, requires_grad=True)
    (_held(2, 3) @ p).sum().backward()
    print(type(p.grad).__name__, p.grad.shape)


def a_wrapper_as_a_parameter_is_trained() -> None:
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.bias.zero_()
    layer.weight = torch.nn.Parameter(_held(2, 3))
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, foreach=False)
    layer(torch.ones(1, 3)).square().sum().backward()
    optimizer.step()
    near(layer.weight.held)
    print(type(layer.weight).__name__, isinstance(layer.weight, torch.nn.Parameter))


def wrappers_are_written_in_place() -> None:
    x = _held(2)
    x.mul_(3)
    x += 1
    print(x, x._version)
    x.zero_()
    print(x)


def elements_of_wrappers() -> None:
    x = _held(2, 2)
    outcome(lambda: x[0, 1].item())
    outcome(lambda: float(x[1, 1]))
    outcome(lambda: bool(x[0, 0] > 1))
    outcome(lambda: torch.equal(x, x))
    outcome(lambda: torch.allclose(x, x + 1))
    outcome(lambda: x.tolist())
    outcome(lambda: x.numpy())


def who_is_asked_and_what_is_refused() -> None:
    class Told(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            print(func, [kind.__name__ for kind in types])
            return torch.full((2,), 7.0)

    a = torch.ones(2).as_subclass(Told)
    print(torch.Tensor.add(a, 1).sum().item())
    outcome(lambda: torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,)))


def a_mode_comes_before_the_class() -> None:
    modes = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")

    class Mode(modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print("mode", func)
            return func(*args, **(kwargs or {}))

    x = _held(2)
    _Held.seen.clear()
    with Mode():
        out = x + 1
    print(out, _Held.seen)
