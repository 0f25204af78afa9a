"""Custom functions in forward mode: `jvp`, and what it must return."""

import torch
from observation import outcome

fw = torch.autograd.forward_ad
Function = torch.autograd.Function


def _made(forward, jvp, backward=lambda ctx, g: g * 2, **further) -> type:
    methods = {"forward": forward, "jvp": jvp, "backward": backward, **further}
    return type("Made", (Function,), {k: staticmethod(v) for k, v in methods.items()})


def _dual(*values: float) -> torch.Tensor:
    return fw.make_dual(torch.tensor(values), torch.full((len(values),), 2.0))


def _told(value: object) -> object:
    if isinstance(value, tuple) and not isinstance(value, fw.UnpackedDualTensor):
        return [_told(v) for v in value]
    return fw.unpack_dual(value) if isinstance(value, torch.Tensor) else value


def _tried(forward, jvp, *args, **further) -> None:
    with fw.dual_level():
        outcome(lambda: _told(_made(forward, jvp, **further).apply(_dual(1.0, 2.0), *args)))


def arguments_without_a_tangent() -> None:
    def jvp(ctx, t, u):
        print(t, u)
        return t * 2

    def bare(ctx, x, k):
        ctx.set_materialize_grads(False)
        return x * 2

    _tried(lambda ctx, x, k: x * 2, jvp, 3)
    _tried(lambda ctx, x, k: x * 2, jvp, torch.ones(2))
    _tried(bare, jvp, torch.ones(2))


def without_a_jvp() -> None:
    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with fw.dual_level():
        outcome(Half.apply, _dual(1.0))


def a_wrong_number_of_tangents() -> None:
    _tried(lambda ctx, x: x * 2, lambda ctx, t: (t, t))
    _tried(lambda ctx, x: (x * 2, x), lambda ctx, t: t)
    _tried(lambda ctx, x: (x * 2, 3), lambda ctx, t: t)


def tangents_of_another_kind() -> None:
    _tried(lambda ctx, x: x * 2, lambda ctx, t: 3.0)
    _tried(lambda ctx, x: x * 2, lambda ctx, t: torch.ones(3))
    _tried(lambda ctx, x: x * 2, lambda ctx, t: t.double())
    _tried(lambda ctx, x: x * 2, lambda ctx, t: t.to(torch.complex64))


def tangents_of_outputs_that_have_none() -> None:
    def forward(ctx, x):
        y, z = x * 2, x * 3
        ctx.mark_non_differentiable(z)
        return y, z

    _tried(forward, lambda ctx, t: (t, None))
    _tried(forward, lambda ctx, t: (t, t))
    _tried(lambda ctx, x: (x * 2, 3, x.long()), lambda ctx, t: (t, None, None))
    _tried(lambda ctx, x: (x * 2, 3, x.long()), lambda ctx, t: (t, None, t))


def _in_place(ctx, x, *rest):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def tangents_of_a_write() -> None:
    _tried(_in_place, lambda ctx, t: t.mul_(2))
    _tried(_in_place, lambda ctx, t: t * 2)
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        part = _made(_in_place, lambda ctx, t: t.mul_(2)).apply(d[0])
        print(_told(part), _told(d))
        plain = torch.ones(2)
        _made(_in_place, lambda ctx, t, u: u * 1).apply(plain, d)
        print(_told(plain))


def tangents_of_a_view() -> None:
    other = torch.ones(2)
    for jvp in (
        lambda ctx, t: t.view(-1, 1),
        lambda ctx, t: t.view(-1, 1).clone(),
        lambda ctx, t: other.view(-1, 1),
    ):
        _tried(lambda ctx, x: x.view(-1, 1), jvp)


def tangents_of_an_input_returned() -> None:
    _tried(lambda ctx, x: x, lambda ctx, t: t)
    _tried(lambda ctx, x: x, lambda ctx, t: t.view_as(t))
    _tried(lambda ctx, x: x, lambda ctx, t: t * 2)


def what_jvp_finds_saved() -> None:
    def jvp(ctx, t):
        print(ctx.saved_tensors, ctx.needs_input_grad)
        return t

    def forward(ctx, x):
        ctx.save_for_forward(x, x * 3, None)
        return x * 2

    def backwards_only(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    _tried(forward, jvp)
    _tried(backwards_only, jvp)

    def setup(ctx, inputs, output):
        print(_told(inputs[0]), _told(output))
        ctx.save_for_forward(inputs[0], output)

    _tried(lambda x: x * 2, jvp, setup_context=setup)


def both_modes_at_once() -> None:
    def forward(ctx, x):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x**2

    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        print(x.requires_grad, torch.is_grad_enabled())
        return 2 * x * t

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([3.0, 4.0], requires_grad=True)
    with fw.dual_level():
        p, q = fw.unpack_dual(_made(forward, jvp, backward).apply(fw.make_dual(x, t)))
        print(p, q)
        print(torch.autograd.grad(q.sum(), (x, t)))
        print(torch.autograd.grad(p.sum(), x))


def with_forward_mode_off() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        with fw._set_fwd_grad_enabled(False):
            out = _made(lambda ctx, x: x * 2, lambda ctx, t: print("jvp")).apply(d)
        print(_told(out))
        with torch.no_grad():
            print(_told(_made(lambda ctx, x: x * 2, lambda ctx, t: t * 2).apply(d)))


def a_tangent_that_jvp_writes() -> None:
    with fw.dual_level():
        d = _dual(1.0, 2.0)
        out = _made(lambda ctx, x: x * 1, lambda ctx, t: t.mul_(2)).apply(d)
        print(_told(out), _told(d), _told(out).tangent is _told(d).tangent)
