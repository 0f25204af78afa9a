"""Inference tensors and views made in inference mode: what they are, what they refuse."""

import torch
from observation import each, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _told(t: torch.Tensor) -> tuple:
    return (t.is_inference(), t.requires_grad, t._is_view(), t.is_leaf)


def what_is_made_inside() -> None:
    x = _leaf(1.0, 2.0)
    n = torch.ones(2, 3)
    with torch.inference_mode():
        made = {
            "ones": torch.ones(2), "tensor": torch.tensor([1.0]), "leaf": torch.ones(2, requires_grad=True),
            "product": x * 2, "clone": x.clone(), "view": x.view(2), "item": x[0], "unbind": x.unbind()[0],
            "detach": x.detach(), "data": x.data, "reshape": n.reshape(6), "copied": n.t().reshape(6),
            "contiguous": n.contiguous(), "numpy": torch.from_numpy(n.numpy()), "to": n.to(torch.float64),
            "same": n.to(torch.float32), "rand": torch.rand(2), "arange": torch.arange(3), "empty": torch.empty(0),
            "like": torch.zeros_like(x), "index": n[[0]], "mask": n[n > 0], "expand": x.expand(2, 2),
            "max": n.max(0)[0], "places": n.max(0)[1], "sort": torch.sort(x)[0], "eq": n == n, "cat": torch.cat([x, x]),
            "split": x.split(1)[1], "chunked": n.chunk(3, 1)[2], "t": n.t(), "real": torch.ones(2, dtype=torch.complex64).real,
            "as_strided": x.as_strided((1,), (1,)), "new": n.new_ones(2), "float": n.float(), "double": n.double(),
            "grad": torch.ones(2).requires_grad_(), "softmax": n.softmax(0), "sum": x.sum(), "einsum": torch.einsum("i->", x),
            "typed": n.detach().view(torch.int32), "linspace": torch.linspace(0, 1, 2), "diag": n.diagonal(),
        }  # fmt: skip
        for name, t in made.items():
            print(name, _told(t))
    for name, t in made.items():
        print(name, _told(t))


def what_is_made_of_inference_tensors_outside() -> None:
    with torch.inference_mode():
        c = torch.ones(2, 3)
        g = torch.ones(2, 3, requires_grad=True)
    for t in (c, g):
        for r in (t * 2, t.view(6), t[0], t.unbind()[0], t.detach(), t.data, t.t(), t.sum(), t.contiguous(),
                  t.expand(2, 2, 3), t.reshape(3, 2), t.t().reshape(6), t + t):  # fmt: skip
            print(_told(r), r.grad_fn)


def versions_of_inference_tensors() -> None:
    with torch.inference_mode():
        c = torch.ones(2)
        v = c[0]
        outcome(lambda: c._version)
        c.add_(1)
        outcome(lambda: v._version)
    outcome(lambda: c._version)
    outcome(lambda: c.view(2)._version)
    outcome(lambda: c.detach()._version)
    outcome(lambda: c.data._version)
    print(c._base, v._base, c.grad_fn, c.output_nr)


def writing_an_inference_tensor_outside() -> None:
    with torch.inference_mode():
        c = torch.ones(3)
        v = c[:1]
        g = torch.ones(2, requires_grad=True)
    w = _leaf(2.0)
    each(
        add=lambda: c.add_(1), item=lambda: c.__setitem__(0, 5.0), view=lambda: v.mul_(2), outer=lambda: c.view(3).add_(1),
        fill=lambda: c.fill_(7), zero=lambda: c.zero_(), copy=lambda: c.copy_(torch.ones(3)), t=lambda: c.t_(),
        unsqueeze=lambda: c.unsqueeze_(0), recorded=lambda: c.mul_(w), recorded_add=lambda: c.add_(w), leaf=lambda: g.add_(1),
        drawn=lambda: c.normal_().shape, out=lambda: torch.add(torch.ones(3), 1, out=c), mask=lambda: c.masked_fill_(c > 0, 0.5),
        indexed=lambda: c.index_add_(0, torch.tensor([0]), torch.ones(1)), resize=lambda: c.resize_(2).shape,
        set=lambda: c.set_(torch.ones(2)), detached=lambda: c.detach().add_(1), data=lambda: c.data.add_(1),
        relu=lambda: torch.relu_(c), detach_=lambda: c.detach_(), puts=lambda: c.__setitem__([0], 1.0),
    )  # fmt: skip
    print(g, c.shape, c.is_inference())
    with torch.no_grad():
        outcome(lambda: c.add_(1))


def a_refused_write_has_been_made() -> None:
    with torch.inference_mode():
        c = torch.ones(3)
    outcome(lambda: c.add_(1))
    print(c)
    outcome(lambda: c[:1].mul_(5))
    print(c)
    outcome(lambda: c.view(3, 1).zero_())
    print(c)


def saving_inference_tensors_is_refused() -> None:
    x = _leaf(1.0, 2.0)
    with torch.inference_mode():
        c = torch.ones(2)
        g = torch.ones(2, requires_grad=True)
    each(
        mul=lambda: x * c, rmul=lambda: c * x, add=lambda: c + x, matmul=lambda: c @ x, div=lambda: x / c, stack=lambda: torch.stack([x, c]),
        cat=lambda: torch.cat([c, x]), where=lambda: torch.where(c > 0, x, c), power=lambda: x ** c, exp=lambda: (x + c).exp(),
        own=lambda: g * 2, own_square=lambda: g * g, own_add=lambda: g + 1, own_exp=lambda: g.exp(), view=lambda: x * c.view(2),
        clone=lambda: x * c.clone(), linear=lambda: torch.nn.functional.linear(x, c.view(1, 2)), mse=lambda: torch.nn.functional.mse_loss(x, c),
        index=lambda: x[(c * 0).long()], gather=lambda: x.gather(0, (c * 0).long()), addcmul=lambda: torch.addcmul(x, c, c),
        inplace=lambda: (x * 1).mul_(c), inplace_add=lambda: (x * 1).add_(c), sub=lambda: c - x, maximum=lambda: torch.maximum(x, c),
    )  # fmt: skip
    with torch.inference_mode():
        i = torch.zeros(1, dtype=torch.int64)
        m = torch.tensor([True, False])
    each(index=lambda: x[i], mask=lambda: x[m], gather=lambda: x.gather(0, i), masked=lambda: x.masked_fill(m, 0.0),
         select=lambda: x.index_select(0, i), where=lambda: torch.where(m, x, 0.0))  # fmt: skip


def gradients_of_inference_leaves() -> None:
    with torch.inference_mode():
        g = torch.ones(2, requires_grad=True)
        outcome(lambda: (g + 1).requires_grad)
        outcome(lambda: (g + 1).sum().backward())
    x = _leaf(1.0, 2.0)
    (g + x).sum().backward()
    print(g.grad, x.grad, g.grad.is_inference())
    (g + 1).sum().backward()
    print(g.grad)
    outcome(lambda: g.sum().backward())
    with torch.inference_mode():
        c = torch.ones(2)
    outcome(lambda: c.requires_grad_())
    outcome(lambda: c.requires_grad_(False).requires_grad)
    outcome(lambda: setattr(c, "requires_grad", True))
    outcome(lambda: c.sum().backward())
    outcome(lambda: c.retain_grad())
    outcome(lambda: c.register_hook(print))
    with torch.inference_mode():
        c.requires_grad_()
    print(c.requires_grad)


def backward_inside_inference_mode() -> None:
    x = _leaf(1.0, 2.0)
    y = (x * x).sum()
    with torch.inference_mode():
        outcome(lambda: y.backward())
    print(x.grad)
    x.grad = None
    z = (x * 3).sum()
    with torch.inference_mode():
        outcome(lambda: torch.autograd.grad(z, x))
        with torch.enable_grad():
            print(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (x * 2).requires_grad, (x * 2).is_inference())
        with torch.inference_mode(False):
            print(torch.is_grad_enabled(), (x * 2).requires_grad, (x * 2).is_inference())
            (x * x).sum().backward()
    print(x.grad)


def views_made_in_inference_mode_refuse_recorded_writes() -> None:
    y = _leaf(1.0, 2.0, 3.0) * 1
    with torch.inference_mode():
        v = y[1:]
        print(_told(v), v._base is y)
        w = v.view(2)
        a = y.unbind()[0]
        v.add_(1)
        print(y._version, v._version)
    outcome(lambda: v[:1])
    for t in (v, w, a):
        outcome(lambda t=t: t.add_(1))
        outcome(lambda t=t: t.grad_fn)
        outcome(lambda t=t: (t * 2).requires_grad)
    outcome(lambda: v.transpose_(0, 0))
    with torch.no_grad():
        v.add_(1)
    print(y)


def views_made_in_inference_mode_of_plain_tensors() -> None:
    y = torch.ones(3)
    with torch.inference_mode():
        v = y[1:]
    v.add_(1)
    print(y, y._version, v._version, v.grad_fn)
    outcome(lambda: v.mul_(_leaf(2.0)))
    y.mul_(_leaf(2.0))
    outcome(lambda: v.grad_fn)
    outcome(lambda: v * 2)


def normal_tensors_are_written_inside_and_noticed_outside() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    with torch.inference_mode():
        y.add_(2)
        n = torch.ones(2)
        n.unsqueeze_(0)
        print(_told(n), n.shape)
        print(_told(y), y._version)
        outcome(lambda: x.add_(1))
        print(x, x._version)
    outcome(lambda: z.sum().backward())
    print(y.grad_fn is not None, y.detach())


def inference_mode_as_a_decorator() -> None:
    @torch.inference_mode()
    def f(t):
        return t * 2, torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    @torch.inference_mode
    def g(t):
        return t * 2

    @torch.inference_mode(mode=False)
    def h(t):
        return t * 2

    @torch.inference_mode()
    def steps(t):
        for _ in range(2):
            yield t * 2

    x = _leaf(1.0)
    r, inside, grad = f(x)
    print(_told(r), inside, grad, _told(g(x)), _told(h(x)), [_told(t) for t in steps(x)])
    with torch.inference_mode():
        print(_told(h(x)), _told(f(x)[0]))
    print(f.__name__, g.__name__, torch.is_inference_mode_enabled())


def grad_modes_inside_inference_mode() -> None:
    x = _leaf(1.0)
    for inner in (torch.enable_grad, torch.no_grad, lambda: torch.set_grad_enabled(True), lambda: torch.inference_mode(True),
                  lambda: torch.inference_mode(False)):  # fmt: skip
        with torch.inference_mode():
            with inner():
                y = x * 2
                v = x[:1]
                print(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), _told(y), _told(v), y.grad_fn)
            print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    with torch.no_grad():
        with torch.inference_mode(False):
            print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        with torch.inference_mode():
            pass
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())


def functions_over_inference_tensors() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = _leaf(1.0)
    with torch.inference_mode():
        c = torch.ones(1)
        print(_told(Double.apply(x)), _told(Double.apply(c)))
    print(_told(Double.apply(c)))
    outcome(lambda: Double.apply(c + 0 * x).grad_fn)
    outcome(lambda: Double.apply(x).grad_fn is not None)


def modules_in_inference_mode() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.BatchNorm1d(2))
    with torch.inference_mode():
        y = net(torch.ones(3, 2))
        print(_told(y), net[2].running_mean._version, net[2].running_mean.is_inference())
        inner = torch.nn.Linear(2, 2)
        print(_told(inner.weight))
    outcome(lambda: inner(torch.ones(1, 2)).shape)
    outcome(lambda: inner(_leaf(1.0, 2.0)).shape)


def copies_of_inference_tensors() -> None:
    import copy
    import pickle

    with torch.inference_mode():
        c = torch.ones(2)
        d = copy.deepcopy(c)
        print(d.is_inference())
    print(copy.deepcopy(c).is_inference(), copy.copy(c).is_inference(), pickle.loads(pickle.dumps(c)).is_inference())
    print(c.numpy(), c.tolist(), c, repr(c.view(2)))
    print(torch.nn.Parameter(c, requires_grad=False).is_inference())
    outcome(lambda: torch.nn.Parameter(c).is_inference())
