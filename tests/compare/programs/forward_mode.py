"""Forward-mode differentiation with dual numbers."""

import torch
from observation import near, outcome

fw = torch.autograd.forward_ad


def _dual(value, tangent):
    return fw.make_dual(torch.tensor(value), torch.tensor(tangent))


def a_dual_number_carries_a_tangent() -> None:
    with fw.dual_level():
        d = _dual([1.0, 2.0], [1.0, 0.0])
        print(d)
        out = fw.unpack_dual(d * d)
        print(out, out.primal, out.tangent)
    print(fw.unpack_dual.__name__)


def a_plain_tensor_has_no_tangent() -> None:
    with fw.dual_level():
        print(fw.unpack_dual(torch.ones(1)))
        out = torch.ones(1) * 2
        print(fw.unpack_dual(out).tangent)


def tangents_of_many_functions() -> None:
    with fw.dual_level():
        d = _dual([0.5, -0.25, 0.75], [1.0, 2.0, 3.0])
        for f in (
            torch.sin,
            torch.exp,
            torch.tanh,
            torch.sigmoid,
            torch.relu,
            torch.abs,
            lambda x: x**3,
            lambda x: 1 / x,
            lambda x: x.sum(),
            lambda x: x.mean(),
            lambda x: x.prod(),
            lambda x: x.max(),
            lambda x: x.softmax(0),
            lambda x: x.logsumexp(0),
            lambda x: x.norm(),
            lambda x: x[1:],
            lambda x: x.view(3, 1) @ x.view(1, 3),
            lambda x: torch.cat([x, x * 2]),
            lambda x: x.cumsum(0),
            lambda x: x.sort()[0],
            lambda x: x.var(),
            lambda x: torch.where(x > 0, x, x * 2),
            lambda x: x.clamp(0, 0.6),
            lambda x: x.gather(0, torch.tensor([2, 0])),
            lambda x: torch.nn.functional.gelu(x),
            lambda x: x.flip(0),
            lambda x: x.double(),
            lambda x: x.expand(2, 3),
        ):
            print(near(fw.unpack_dual(f(d)).tangent))


def tangents_of_two_operands() -> None:
    with fw.dual_level():
        a, b = _dual([1.0, 2.0], [1.0, 0.0]), _dual([3.0, 4.0], [0.0, 1.0])
        c = torch.tensor([5.0, 6.0])
        for f in (
            lambda: a * b,
            lambda: a / b,
            lambda: a + c,
            lambda: c - a,
            lambda: a**b,
            lambda: torch.atan2(a, b),
            lambda: torch.dot(a, b),
            lambda: torch.maximum(a, b),
            lambda: a * 3,
            lambda: torch.stack([a, c]),
        ):
            print(near(fw.unpack_dual(f()).tangent))


def outside_a_level_it_is_refused() -> None:
    outcome(fw.make_dual, torch.ones(1), torch.ones(1))
    outcome(fw.unpack_dual, torch.ones(1))
    with fw.dual_level():
        pass
    outcome(fw.exit_dual_level)


def levels_do_not_nest() -> None:
    def nested():
        with fw.dual_level(), fw.dual_level():
            pass

    outcome(nested)
    with fw.dual_level():
        print(fw.unpack_dual(torch.ones(1)).tangent)


def tangents_must_fit() -> None:
    with fw.dual_level():
        outcome(fw.make_dual, torch.ones(2), torch.ones(3))
        outcome(fw.make_dual, torch.ones(2), torch.ones(2).double())
        outcome(fw.make_dual, torch.ones(2).long(), torch.ones(2).long())
        outcome(fw.make_dual, torch.ones(2), 1.0)
        d = fw.make_dual(torch.ones(1), torch.ones(1))
        outcome(fw.make_dual, d, torch.ones(1))


def the_tangent_is_gone_after_the_level() -> None:
    with fw.dual_level():
        d = _dual([1.0], [1.0])
    with fw.dual_level():
        print(fw.unpack_dual(d))


def forward_over_reverse() -> None:
    with fw.dual_level():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        d = fw.make_dual(x, torch.tensor([1.0, 0.0]))
        (g,) = torch.autograd.grad((d**3).sum(), d, create_graph=True)
        print(near(fw.unpack_dual(g).primal), near(fw.unpack_dual(g).tangent))


def reverse_over_forward() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        t = fw.unpack_dual(fw.make_dual(x, torch.ones(2)).pow(3)).tangent
    print(t.requires_grad)
    t.sum().backward()
    print(x.grad)


def in_place_and_views_move_tangents() -> None:
    with fw.dual_level():
        d = _dual([1.0, 2.0], [1.0, 10.0])
        y = d * 1
        y.mul_(3)
        print(fw.unpack_dual(y).tangent)
        y[0] = 7.0
        print(fw.unpack_dual(y).tangent)
        z = torch.zeros(2)
        z[1] = d[0]
        print(fw.unpack_dual(z).tangent, fw.unpack_dual(d.view(2, 1)).tangent)
        print(fw.unpack_dual(d.detach()).tangent)


def no_grad_and_forward_mode() -> None:
    with fw.dual_level(), torch.no_grad():
        d = _dual([1.0], [1.0])
        print(fw.unpack_dual(d * 2).tangent)
        with fw._set_fwd_grad_enabled(False):
            print(fw.unpack_dual(d * 2).tangent)


def a_model_in_forward_mode() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    with fw.dual_level():
        y = net(_dual([[1.0, 2.0]], [[1.0, 0.0]]))
        print(near(fw.unpack_dual(y).primal), near(fw.unpack_dual(y).tangent))


def integer_results_have_no_tangent() -> None:
    with fw.dual_level():
        d = _dual([1.0, 3.0], [1.0, 1.0])
        print(
            fw.unpack_dual(d.argmax()).tangent,
            fw.unpack_dual(d > 2).tangent,
            fw.unpack_dual(d.long()).tangent,
            fw.unpack_dual(d.floor()).tangent,
        )
