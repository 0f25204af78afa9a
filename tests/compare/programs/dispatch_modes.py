"""Modes below autograd: which operators they see, what they may answer; counting products."""

import importlib

import torch
from observation import near, outcome

# By the name of the module that stands for torch: submodules are loaded once.
_python_dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")
TorchDispatchMode = _python_dispatch.TorchDispatchMode
_get_current_dispatch_mode = _python_dispatch._get_current_dispatch_mode
_flop_counter = importlib.import_module(f"{torch.__name__}.utils.flop_counter")
FlopCounterMode = _flop_counter.FlopCounterMode

aten = torch.ops.aten
F = torch.nn.functional


class _Log(TorchDispatchMode):
    """Prints operators, and their arguments without the elements of tensors."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if not types:  # not the detaching of saved results
            print(func, _shown(args), _shown(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _shown(value):
    if isinstance(value, torch.Tensor):
        return f"T{list(value.shape)}{'g' if value.requires_grad else ''}"
    if isinstance(value, dict):
        return {name: _shown(item) for name, item in value.items() if name != "device"}
    if isinstance(value, (list, tuple)):
        return type(value)(_shown(item) for item in value)
    return value


def _x() -> torch.Tensor:
    return torch.linspace(0.1, 1, 12).reshape(3, 4).requires_grad_()


def arithmetic_as_operators() -> None:
    x, y = _x(), torch.ones(3, 4)
    with _Log():
        (x * 2 + 1 - y) / 3
        x.neg()
        2 - x
        2 / y
        x + y
        x.add(y, alpha=2)


def powers_as_operators() -> None:
    x = _x()
    with _Log():
        x**2
        x**3
        x**0.5
        2**x
        x.square()


def products_as_operators() -> None:
    x, w, b = _x(), torch.ones(5, 4, requires_grad=True), torch.ones(5, requires_grad=True)
    cube = torch.ones(2, 3, 4)
    with _Log():
        F.linear(x, w, b)
        F.linear(x, w)
        x @ w.t()
        cube @ w.t()
        x @ x[0]
        x[0] @ x[0]
        cube @ cube.transpose(1, 2)


def reductions_as_operators() -> None:
    x = _x()
    with _Log():
        x.sum()
        x.sum(1)
        x.mean()
        x.mean(0, keepdim=True)
        x.max()
        x.max(1)
        x.std(1)
        x.argmax()
        x.any()


def views_as_operators() -> None:
    x = _x()
    with _Log():
        x.view(4, 3)
        x.reshape(2, 6)
        x.t()
        x.transpose(0, 1)
        x.permute(1, 0)
        x.unsqueeze(0)
        x.squeeze()
        x.expand(2, 3, 4)
        x.flatten()


def indexing_as_operators() -> None:
    x = _x()
    where = torch.tensor([0, 1])
    with _Log():
        x[0]
        x[:, 1]
        x[0, 1:3]
        x[..., None]
        x[where]
        x[x > 0.5]


def activations_as_operators() -> None:
    x = _x()
    with _Log():
        F.relu(x)
        F.gelu(x)
        torch.sigmoid(x)
        F.softmax(x, -1)
        F.log_softmax(x, -1)
        F.layer_norm(x, (4,))
        F.silu(x)
        F.mse_loss(x, x.detach())


def writes_as_operators() -> None:
    z = torch.ones(3, 4)
    y = torch.ones(3, 4)
    with _Log():
        z.add_(1)
        z.mul_(y)
        z.zero_()
        z += y
        z.copy_(y)
        z.fill_(3)
        z.relu_()


def factories_as_operators() -> None:
    y = torch.ones(2, 2)
    with _Log():
        torch.zeros(2)
        torch.ones(2, 3)
        torch.empty(2)
        torch.full((2,), 3.0)
        torch.arange(3)
        torch.tensor([1.0])
        torch.randn(2)
        torch.zeros_like(y)
        torch.eye(2)
        torch.linspace(0, 1, 3)


def conversions_as_operators() -> None:
    y = torch.ones(2, 2)
    with _Log():
        y.double()
        y.to(torch.int64)
        y.float()
        y.gt(0)
        y.eq(y)
        y.clone()
        y.detach()
        y.sum().item()


def joins_as_operators() -> None:
    x = _x()
    with _Log():
        torch.cat([x, x])
        torch.stack([x, x], 1)
        torch.where(x > 0.5, x, x)
        x.split(2)
        x.chunk(3)
        x.gather(1, torch.zeros(3, 1, dtype=torch.int64))


def results_are_recorded_around_the_mode() -> None:
    x = _x()
    with _Log():
        y = x * 2
    print(y.requires_grad, y.grad_fn.name(), y.grad_fn.next_functions[0][0].variable is x)
    y.sum().backward()
    print(near(x.grad))


def an_answer_of_another_value_keeps_the_formula() -> None:
    class Sevens(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return torch.full((3, 4), 7.0)

    x = _x()
    with Sevens():
        y = x * 2
    print(near(y[0]), y.grad_fn.name())
    y.sum().backward()
    print(near(x.grad[0]))


def the_answer_is_the_tensor_that_the_caller_gets() -> None:
    class Keep(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.last = func(*args, **(kwargs or {}))
            return self.last

    with Keep() as keep:
        y = torch.ones(2) * 2
    print(keep.last is y)


def modes_nest() -> None:
    class Named(TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            outer = _get_current_dispatch_mode()
            print(self.name, func, getattr(outer, "name", None))
            return func(*args, **(kwargs or {}))

    with Named("outer"), Named("inner"):
        torch.exp(torch.ones(1).detach())
    print(_get_current_dispatch_mode())


def results_inside_a_mode_are_not_recorded() -> None:
    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            print(func, args[0].requires_grad, out.requires_grad, out.grad_fn)
            return out

    x = _x()
    with Look():
        x.sin()


def not_implemented_is_an_error() -> None:
    class Refuse(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

        def __repr__(self):
            return "Refuse()"

    x = _x()
    with Refuse():
        outcome(torch.exp, x)


def a_mode_without_a_method_is_an_error() -> None:
    class Bare(TorchDispatchMode):
        pass

    x = _x()
    with Bare():
        outcome(torch.exp, x)


def errors_leave_no_mode_behind() -> None:
    class Fail(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise ValueError("inside")

    x = _x()
    try:
        with Fail():
            x + 1
    except ValueError as error:
        print(error, _get_current_dispatch_mode())
    print((x + 1).shape)


def a_mode_may_change_an_operator() -> None:
    class Swap(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is aten.add.Tensor:
                return aten.sub.Tensor(*args, **(kwargs or {}))
            return func(*args, **(kwargs or {}))

    with Swap():
        print(near(torch.tensor([5.0]) + torch.tensor([2.0])))


def writes_count_once_under_a_mode() -> None:
    class Through(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    z = torch.ones(3)
    with Through():
        z.add_(1)
        z.mul_(2)
    print(z._version, near(z))
    x = _x()
    with Through():
        y = x * 1
        y.mul_(3)
        y[0].add_(1)
    y.sum().backward()
    print(y._version, near(x.grad))


def operators_have_names() -> None:
    op = aten.mul.Tensor
    print(op, repr(op), op.name(), op.namespace, op._opname, op._overloadname, op.__name__)
    print(aten.mul, repr(aten.mul), op.overloadpacket is aten.mul, aten.mul.Tensor is op)
    print(aten.add_.Tensor, aten.sum.dim_IntList, aten.add.out, aten.relu.default)
    print(len({aten.mul.Tensor, aten.mul.Tensor, aten.add.Tensor}), type(op).__name__)
    print(aten.mul.Tensor._schema, aten.sum.dim_IntList._schema)
    print(aten.view.default.is_view, aten.mm.default.is_view)


def operators_can_be_called() -> None:
    print(near(aten.mul.Tensor(torch.ones(2), torch.ones(2) * 3)))
    print(near(aten.mul(torch.ones(2), 4)))
    print(near(aten.sum.dim_IntList(torch.ones(2, 3), [1])))
    print(near(aten.add.Tensor(torch.ones(2), torch.ones(2), alpha=3)))
    print(near(aten.add_.Tensor(torch.ones(2), 1)))
    print(near(aten.add.out(torch.ones(2), torch.ones(2), out=torch.empty(2))))
    print(near(aten._softmax.default(torch.zeros(2), 0, False)))


def operators_refuse_wrong_arguments() -> None:
    outcome(lambda: aten.mul.Tensor())
    outcome(lambda: aten.mul.Tensor(torch.ones(2), "a"))
    outcome(lambda: aten.mul.Tensor(torch.ones(2), torch.ones(2), colour=1))
    outcome(lambda: aten.no_such_operator)
    outcome(lambda: aten.mul.no_such_overload)


def products_are_counted() -> None:
    x = torch.ones(3, 4)
    with FlopCounterMode(display=False) as counter:
        torch.mm(x, x.t())
        torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 4, 5))
        torch.addmm(torch.ones(3), x, x.t())
        x * x
    print(counter.get_total_flops())
    print({str(k): v for k, v in counter.get_flop_counts()["Global"].items()})


def products_are_counted_by_module() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    with FlopCounterMode(display=False) as counter:
        net(torch.ones(3, 4)).sum().backward()
    counts = counter.get_flop_counts()
    print(counter.get_total_flops())
    for name in sorted(counts):
        print(name, sorted((str(op), n) for op, n in counts[name].items()))


def other_operators_can_be_counted() -> None:
    def seven(a, b, *rest, out_shape=None, **options):
        return 7 * out_shape[0]

    with FlopCounterMode(display=False, custom_mapping={aten.mul: seven}) as counter:
        torch.ones(3, 2) * torch.ones(3, 2)
    print({str(k): v for k, v in counter.get_flop_counts()["Global"].items()})


def results_written_into_a_tensor() -> None:
    y, out = torch.ones(3, 4), torch.zeros(3, 4)
    with _Log():
        torch.add(y, y, out=out)
        torch.exp(y, out=out)
        torch.sum(y, 1, out=torch.zeros(3))
    print(near(out[0]), out._version)
