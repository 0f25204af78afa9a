"""Dual tensors: levels, layout, in-place writes, views, element types."""

import torch
from observation import each, outcome

fw = torch.autograd.forward_ad

_up = fw.unpack_dual


def _dual(*values: float) -> torch.Tensor:
    return fw.make_dual(torch.tensor(values), torch.arange(1.0, 1.0 + len(values)))


def levels_by_number() -> None:
    print(fw._current_level)
    with fw.dual_level() as level:
        print(level, fw._current_level)
        each(
            other=lambda: fw.exit_dual_level(level=3),
            negative=lambda: fw.exit_dual_level(level=-3),
            made_at_one=lambda: fw.make_dual(torch.ones(1), torch.ones(1), level=1),
            made_below=lambda: fw.make_dual(torch.ones(1), torch.ones(1), level=-1),
            unpacked_at_one=lambda: fw.unpack_dual(torch.ones(1), level=1),
            unpacked_below=lambda: fw.unpack_dual(_dual(1.0), level=-1),
            number=lambda: fw.unpack_dual(3),
        )
    each(
        made=lambda: fw.make_dual(torch.ones(1), torch.ones(1), level=0),
        unpacked=lambda: fw.unpack_dual(torch.ones(1), level=0),
        exited=fw.exit_dual_level,
    )


def a_level_as_a_decorator() -> None:
    @fw.dual_level()
    def slope(x):
        return _up(fw.make_dual(x, torch.ones(1)) ** 2).tangent

    print(slope(torch.tensor([3.0])), fw._current_level)


def what_make_dual_takes() -> None:
    one = torch.ones(1)
    with fw.dual_level():
        each(
            number=lambda: fw.make_dual(3, one),
            none=lambda: fw.make_dual(one, None),
            integer=lambda: fw.make_dual(one.long(), one),
            integer_tangent=lambda: fw.make_dual(one, one.long()),
            double=lambda: fw.make_dual(one, one.double()),
            complex=lambda: fw.make_dual(one, one.to(torch.complex64)),
            dual=lambda: fw.make_dual(_dual(1.0), one),
            dual_tangent=lambda: fw.make_dual(one, _dual(1.0)),
            zero_dim=lambda: fw.make_dual(torch.ones(2), torch.ones(())),
            column=lambda: fw.make_dual(torch.ones(2, 1), torch.ones(2)),
        )


def a_dual_shares_memory_with_its_parts() -> None:
    x, t = torch.ones(2), torch.ones(2) * 3
    with fw.dual_level():
        d = fw.make_dual(x, t)
        p, q = _up(d)
        print(q is t, p is d, d._base is x, d._is_view(), d.is_leaf, d.grad_fn, d._version)
        x.add_(1)
        print(d, d._version, p._version)


def nodes_of_duals() -> None:
    x = torch.ones(2, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.ones(2))
        print(d, _up(d))
        print(torch.autograd.grad(_up(d).primal.sum(), x))


def tangents_are_laid_out_like_their_primals() -> None:
    with fw.dual_level():
        for x, t in (
            (torch.ones(2, 3), torch.ones(3, 2).t()),
            (torch.ones(3, 2).t(), torch.ones(2, 3)),
            (torch.ones(4, 3)[::2], torch.ones(2, 3)),
            (torch.ones(2, 3), torch.ones(1, 3).expand(2, 3)),
            (torch.ones(2, 3), torch.ones(2, 3)),
        ):
            d = fw.make_dual(x, t)
            print(_up(d).tangent is t, _up(d).tangent.stride(), _up(d * 2).tangent.stride())
        outcome(fw.make_dual, torch.ones(1, 3).expand(2, 3), torch.ones(2, 3))


def writes_go_into_the_tangent_that_is_there() -> None:
    x, t = torch.ones(2), torch.ones(2) * 3
    with fw.dual_level():
        d = fw.make_dual(x, t)
        d.mul_(2)
        print(_up(d), x, t, _up(x).tangent, _up(d).tangent is t)
        d.add_(torch.ones(2))
        d.add_(_dual(1.0, 2.0))
        print(_up(d), t)


def writes_of_every_kind() -> None:
    with fw.dual_level():
        for write in (
            lambda d: d.copy_(torch.ones(2)),
            lambda d: d.copy_(_dual(3.0, 4.0)),
            lambda d: d.zero_(),
            lambda d: d.fill_(3),
            lambda d: d.exp_(),
            lambda d: d.clamp_(max=1.5),
            lambda d: d.sub_(d),
            lambda d: d.pow_(2),
            lambda d: d.div_(2),
            lambda d: d.masked_fill_(torch.tensor([True, False]), 0.0),
            lambda d: d.__setitem__(0, 5.0),
            lambda d: d.__setitem__(0, _dual(7.0)[0]),
            lambda d: d[1:].mul_(3),
        ):
            d = _dual(1.0, 2.0)
            write(d)
            print(_up(d))


def a_plain_tensor_becomes_dual_by_a_write() -> None:
    with fw.dual_level():
        b = torch.ones(2)
        b.add_(_dual(1.0, 2.0))
        print(_up(b))
        b = torch.ones(2)
        b[0] = _dual(1.0, 2.0)[1]
        print(_up(b))


def a_base_gets_the_tangent_of_its_view() -> None:
    with fw.dual_level():
        b = torch.ones(2, 2)
        row, column = b[0], b[:, 1]
        row.mul_(_dual(1.0, 2.0))
        print(_up(b), _up(row), _up(column))
        column.mul_(3)
        print(_up(b), _up(row))
        print(row * 2)


def a_view_made_before_sees_the_tangent_of_its_base() -> None:
    with fw.dual_level():
        b = torch.ones(2, 2)
        row = b[0]
        b.mul_(_dual(1.0, 2.0))
        print(_up(row), row * 2)


def detached_views_keep_apart() -> None:
    with fw.dual_level():
        b = torch.ones(2)
        v = b.detach()
        v.mul_(_dual(1.0, 2.0))
        print(_up(b), _up(v))
        d = _dual(1.0, 2.0)
        print(_up(d.detach()), _up(d.data), _up(d.detach() * 2))
        c = d.clone()
        c.detach_()
        print(_up(c))


def views_of_a_dual_share_its_tangent() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0, 3.0, 4.0)
        v = d.view(2, 2)
        v[0] *= 3
        print(_up(d))
        v.t().mul_(2)
        print(_up(d), _up(v))
        a, _ = d.split(2)
        a.mul_(2)
        print(_up(d), _up(d[::2]), _up(d.expand(2, 4)), _up(d.unbind()[3]))


def an_unpacked_primal_is_no_part_of_the_dual() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        p, t = _up(d)
        p.mul_(2)
        print(_up(d), _up(p))
        t.mul_(2)
        print(_up(d), _up(t))
        p.mul_(_dual(1.0, 2.0))
        print(_up(p), _up(d))


def conversions_of_duals() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        each(
            double=lambda: d.double(),
            half=lambda: d.half(),
            same=lambda: _up(d.float()),
            complex=lambda: _up(d.to(torch.complex64)),
            long=lambda: d.long(),
            numpy=lambda: d.numpy(),
            item=lambda: d[1].item(),
            ones=lambda: _up(torch.ones_like(d)),
            new=lambda: _up(d.new_ones(2)),
            compared=lambda: d > 1,
            parameter=lambda: _up(torch.nn.Parameter(d)),
        )


def tangents_of_another_element_type() -> None:
    with fw.dual_level():
        a = fw.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2, dtype=torch.double))
        each(
            scaled=lambda: _up(a * 2),
            squared=lambda: _up(a * a),
            summed=lambda: _up(a.sum()),
            grown=lambda: _up(a.exp()),
        )
        b = fw.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2))
        wide = torch.ones(2, dtype=torch.double)
        print(_up(b * wide), _up(b + wide), _up(b.sum(dtype=torch.double)))


def an_out_argument_is_refused() -> None:
    with fw.dual_level():
        each(
            target=lambda: torch.add(torch.ones(2), torch.ones(2), out=_dual(1.0, 2.0)),
            operand=lambda: torch.mul(_dual(1.0, 2.0), torch.ones(2), out=torch.ones(2)),
            neither=lambda: torch.add(torch.ones(2), torch.ones(2), out=torch.ones(2)),
        )


def backward_among_duals() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.ones(2))
        y = (d**3).sum()
        print(
            torch.autograd.grad(y, d, retain_graph=True),
            torch.autograd.grad(y, x, retain_graph=True),
        )
        y.backward()
        print(x.grad)
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        print(torch.autograd.grad((w * _dual(1.0, 2.0)).sum(), w))


def backward_through_a_write_among_duals() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.ones(3))
        y = d.clone().mul_(d).exp_().sum()
        print(torch.autograd.grad(y, d)[0])


def forward_mode_switched_off() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        with fw._set_fwd_grad_enabled(False):
            print(_up(d), d, fw._is_fwd_grad_enabled())
            e = d * 2
        print(_up(e), _up(d), fw._is_fwd_grad_enabled())


def complex_tangents() -> None:
    with fw.dual_level():
        a = fw.make_dual(torch.tensor([1 + 1j, 2.0]), torch.tensor([1j, 1.0]))
        for f in (torch.abs, torch.angle, torch.real, torch.imag, lambda x: x * x.conj(),
                  lambda x: x.abs().sum(), torch.view_as_real):  # fmt: skip
            print(_up(f(a)))
        b = fw.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2))
        print(_up(torch.complex(b, b)), _up(b * 1j), _up(a * b))


def a_dual_is_gone_after_its_level() -> None:
    x = torch.ones(2)
    with fw.dual_level():
        d = fw.make_dual(x, torch.ones(2))
    print(d, _up(d))
    with fw.dual_level():
        print(_up(d), fw.make_dual(d, torch.full((2,), 5.0)))


def tangents_of_zero_dimensions_print_as_numbers() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        print(list(d), d.sum(), [d[0]])


def tangents_of_common_functions() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        for f in (
            lambda: d.cumsum(0), lambda: d.max(0)[0], lambda: torch.linalg.norm(d),
            lambda: torch.einsum("i,i->", d, d), lambda: d.topk(1)[0], lambda: d.repeat(2),
            lambda: torch.nn.functional.softmax(d, 0), lambda: d.flip(0), lambda: d.roll(1),
            lambda: torch.nn.functional.mse_loss(d, torch.zeros(2)), lambda: torch.outer(d, d),
            lambda: torch.nn.functional.linear(d, torch.ones(3, 2)), lambda: d.std(),
        ):  # fmt: skip
            print(_up(f()))


def random_refills_have_no_tangent_left() -> None:
    with fw.dual_level():
        for fill in (
            lambda d: d.normal_(), lambda d: d.uniform_(), lambda d: d.bernoulli_(0.5),
            lambda d: d.exponential_(),
        ):  # fmt: skip
            torch.manual_seed(0)
            d = _dual(1.0, 2.0, 3.0)
            fill(d)
            print(_up(d).tangent)


def one_mask_for_values_and_tangents() -> None:
    with fw.dual_level():
        for inplace in (False, True):
            torch.manual_seed(0)
            print(_up(torch.nn.functional.dropout(_dual(1.0, 2.0, 3.0), 0.5, inplace=inplace)))
        torch.manual_seed(0)
        print(_up(torch.normal(_dual(1.0, 2.0), 0.0)))


def duals_turned_in_place() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0, 3.0, 4.0)
        print(_up(d.unsqueeze_(0)))
        print(_up(d.t_()), _up(d.squeeze_()))
        print(_up(_dual(1.0, 2.0, 3.0, 4.0).view(2, 2).transpose_(0, 1)))


def what_forward_mode_does_not_do() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        each(
            resized=lambda: d.resize_(1),
            given=lambda: torch.zeros(2).set_(d),
            unique=lambda: torch.unique(d),
        )


def writes_of_several_operands() -> None:
    with fw.dual_level():
        index = torch.tensor([0, 1])
        for write in (
            lambda d: d.addcmul_(_dual(3.0, 4.0), d * 2), lambda d: d.lerp_(_dual(3.0, 4.0), 0.5),
            lambda d: d.index_add_(0, index, d * 2), lambda d: d.scatter_(0, index, d * 2),
            lambda d: torch.ones(2).index_put_((index,), d), lambda d: torch.ones(2).copy_(d),
            lambda d: torch.ones(2, 2).addmm_(d.view(2, 1), d.view(1, 2)),
            lambda d: d.cumsum_(0), lambda d: d.relu_(),
        ):  # fmt: skip
            print(_up(write(_dual(1.0, 2.0))))
