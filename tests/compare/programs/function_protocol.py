"""Custom functions: requests to the context, what comes back, and what is refused."""

import collections
import copy
import pickle
import warnings

import torch
from observation import each, outcome

Function = torch.autograd.Function


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _made(forward, backward=lambda ctx, g: g * 2, **further) -> type:
    methods = {"forward": forward, "backward": backward, **further}
    return type("Made", (Function,), {k: staticmethod(v) for k, v in methods.items()})


def _asking(request) -> type:
    def forward(ctx, x):
        request(ctx, x)
        return x * 2

    return _made(forward)


def requests_before_and_after_the_call() -> None:
    def forward(ctx, x):
        print(ctx.to_save, ctx.dirty_tensors, ctx.non_differentiable, ctx.saved_for_forward)
        ctx.save_for_backward(x)
        print(ctx.to_save, ctx.saved_tensors, ctx.needs_input_grad, sorted(ctx.__dict__))
        return x * 2

    node = _made(forward).apply(_leaf(1.0)).grad_fn
    print(node.to_save, node.saved_tensors, node.name(), node.requires_grad, node.metadata)
    print(type(node).__name__, isinstance(node, torch.autograd.function.BackwardCFunction))


def requests_for_what_is_no_tensor() -> None:
    x = _leaf(1.0)
    each(
        dirty=lambda: _asking(lambda c, x: c.mark_dirty(x, 3)).apply(x),
        dirty_list=lambda: _asking(lambda c, x: c.mark_dirty([x])).apply(x),
        constant=lambda: _asking(lambda c, x: c.mark_non_differentiable("s")).apply(x),
        saved=lambda: _asking(lambda c, x: c.save_for_backward(x, "s")).apply(x),
        saved_list=lambda: _asking(lambda c, x: c.save_for_backward([x])).apply(x),
        forward=lambda: _asking(lambda c, x: c.save_for_forward(x, 3)).apply(x),
        none=lambda: _asking(lambda c, x: c.save_for_backward(None)).apply(x),
        none_forward=lambda: _asking(lambda c, x: c.save_for_forward(None)).apply(x),
        materialize=lambda: _asking(lambda c, x: c.set_materialize_grads(1)).apply(x),
    )


def requests_set_as_attributes() -> None:
    x = _leaf(1.0)
    for name in ("to_save", "dirty_tensors", "non_differentiable", "saved_tensors", "metadata",
                 "next_functions", "needs_input_grad"):  # fmt: skip
        print(name, end=": ")
        outcome(_asking(lambda c, x, name=name: setattr(c, name, 3)).apply, x)
    node = _asking(lambda c, x: None).apply(x).grad_fn
    each(readable=lambda: node.materialize_grads, deleted=lambda: delattr(node, "to_save"))


def requests_are_checked_without_gradients_too() -> None:
    with torch.no_grad():
        outcome(_asking(lambda c, x: c.mark_dirty(x, 3)).apply, _leaf(1.0))
        outcome(_asking(lambda c, x: c.mark_dirty(x)).apply, _leaf(1.0))
        outcome(_asking(lambda c, x: c.save_for_backward([x])).apply, _leaf(1.0))


def the_former_name_of_saved_tensors() -> None:
    node = _asking(lambda c, x: c.save_for_backward(x)).apply(_leaf(1.0)).grad_fn
    print(node.saved_variables)


def raw_saved_tensors() -> None:
    node = _asking(lambda c, x: c.save_for_backward(x, x + 1)).apply(_leaf(1.0)).grad_fn
    print([s.data for s in node._raw_saved_tensors])
    node._raw_saved_tensors[1].register_hooks(lambda t: t * 5, lambda t: t + 1)
    print(node.saved_tensors)


def saved_tensors_that_may_be_read_once() -> None:
    class Once(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = _leaf(1.0)
    y = Once.apply(x)
    print(y.grad_fn.saved_tensors)
    each(again=lambda: y.grad_fn.saved_tensors, backward=y.backward)
    print(y.grad_fn._raw_saved_tensors)
    z = Once.apply(x)
    z.backward(retain_graph=True)
    outcome(z.backward)


def an_input_without_gradient_comes_out_as_a_view() -> None:
    same = _made(lambda ctx, x: x)
    x = torch.ones(2)
    y = same.apply(x)
    print(y is x, y._is_view(), y._base is x, y.grad_fn)
    with torch.no_grad():
        z = same.apply(_leaf(1.0))
    print(z.requires_grad, z._is_view())


def a_view_made_without_gradients_keeps_its_warning() -> None:
    flat = _made(lambda ctx, x: x.view(-1))
    x = torch.ones(2, 1, requires_grad=True).clone()
    with torch.no_grad():
        y = flat.apply(x)
    print(y.requires_grad, y._is_view())
    outcome(y.mul_, 2)


def several_views_refuse_in_place() -> None:
    two = _made(lambda ctx, x: (x.view(-1), x.view(1, 2)), lambda ctx, g, h: (g + h[0])[:, None])
    a, b = two.apply(torch.ones(2, 1, requires_grad=True).clone())
    outcome(a.mul_, 2)
    outcome(b.add_, 1)


def a_write_to_the_base_of_a_returned_view() -> None:
    flat = _made(lambda ctx, x: x.view(-1))
    x = torch.ones(2, 1, requires_grad=True).clone()
    y = flat.apply(x)
    x.mul_(2)
    outcome(lambda: y.grad_fn)


def saving_an_input_that_is_returned() -> None:
    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    same = _made(lambda x: x, setup_context=setup)
    outcome(same.apply, torch.ones(1))
    outcome(same.apply, _leaf(1.0))
    with torch.no_grad():
        outcome(same.apply, torch.ones(1))
        outcome(same.apply, _leaf(1.0))

    def also_constant(ctx, inputs, output):
        ctx.mark_non_differentiable(*inputs)
        setup(ctx, inputs, output)

    outcome(_made(lambda x: x, setup_context=also_constant).apply, _leaf(1.0))

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    x = _leaf(1.0)
    y = _made(forward).apply(x)
    print(y.grad_fn.saved_tensors[0] is x)


def _scaling(also_constant: bool = False, further: bool = False) -> type:
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        if also_constant:
            ctx.mark_non_differentiable(x)
        return (x, x + 1) if further else x

    return _made(forward, lambda ctx, g, *rest: g * 3)


def writing_to_a_leaf_and_to_its_view() -> None:
    outcome(_scaling().apply, _leaf(1.0))
    outcome(_scaling().apply, _leaf(1.0, 2.0)[0])


def writing_to_a_view_moves_the_history_of_the_base() -> None:
    x = _leaf(1.0, 2.0)
    base = x.clone()
    part = base[0]
    print(_scaling().apply(part) is part, base, part.grad_fn.name())
    base.sum().backward()
    print(x.grad)
    outcome(_scaling(further=True).apply, x.clone()[0])


def written_and_not_differentiable() -> None:
    x = _leaf(1.0).clone()
    y = _scaling(also_constant=True).apply(x)
    print(y, y is x, x.requires_grad)


def a_dirty_tensor_that_is_no_input() -> None:
    def forward(ctx, x):
        y = x + 1
        ctx.mark_dirty(y)
        return y

    y = _made(forward).apply(_leaf(1.0))
    print(y, y._version)


def keywords_of_the_combined_style() -> None:
    def forward(ctx, x, k=3, *rest, z=1, **others):
        print("forward", k, rest, z, others, ctx.needs_input_grad)
        return x * 2

    apply = _made(forward, lambda ctx, g: (g, None)).apply
    x = _leaf(1.0)
    each(
        place=lambda: apply(x, 4),
        name=lambda: apply(x, k=4),
        first=lambda: apply(x=x),
        tensor=lambda: apply(x, k=_leaf(2.0)),
        only_by_name=lambda: apply(x, z=4),
        unknown=lambda: apply(x, w=4),
        twice=lambda: apply(x, x=4),
        missing=lambda: apply(k=4),
    )


def keywords_of_the_separate_style() -> None:
    def setup(ctx, inputs, output):
        print("setup", inputs, ctx.needs_input_grad)

    x = _leaf(1.0)
    plain = _made(lambda x, k=3: x * k, setup_context=setup).apply
    named = _made(lambda x, *, k=3: x * k, setup_context=setup).apply
    open_ = _made(lambda x, *a, **kw: x * 2, setup_context=setup).apply
    each(
        default=lambda: plain(x),
        name=lambda: plain(k=4, x=x),
        unknown=lambda: plain(x, q=4),
        many=lambda: plain(x, 3, 4),
        none=lambda: plain(),
        only_by_name=lambda: named(x),
        open_=lambda: open_(x, 4),
        open_name=lambda: open_(x, k=4),
    )


def gradients_that_do_not_fit() -> None:
    x = _leaf(1.0, 2.0)
    for answer in (
        lambda g: (g, g), lambda g: 3.0, lambda g: [g], lambda g: torch.ones(5),
        lambda g: torch.ones(5, 2), lambda g: torch.ones(()), lambda g: g.double(),
        lambda g: g.long(), lambda g: g.to(torch.complex64), lambda g: None,
        lambda g: (g, None, None), lambda g: (),
    ):  # fmt: skip
        apply = _made(lambda ctx, x: x * 2, lambda ctx, g, answer=answer: answer(g)).apply
        outcome(torch.autograd.grad, apply(x).sum(), x, allow_unused=True)


def outputs_of_every_kind() -> None:
    def backward(ctx, *grads):
        print(grads)
        return grads[0] * 2

    apply = _made(lambda ctx, x: (x * 2, 3, None, "s", [x], x.long()), backward).apply
    x = _leaf(1.0)
    found = apply(x)
    print(found)
    found[0].backward()
    print(_made(lambda ctx, x: [x * 2], backward).apply(x))
    print(_made(lambda ctx, x: None, backward).apply(x))


def one_tensor_returned_twice() -> None:
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = _leaf(1.0)
    a, b = _made(forward, lambda ctx, g, h: g + h).apply(x)
    print(a is b, a, b)
    c, d = _made(lambda ctx, x: (x, x), lambda ctx, g, h: g + h).apply(x)
    print(c is d, torch.autograd.grad(c + d, x))


def grads_that_are_not_materialized() -> None:
    for wanted in (True, False):

        def forward(ctx, x, wanted=wanted):
            ctx.set_materialize_grads(wanted)
            return x * 2, x * 3

        def backward(ctx, g, h):
            print(g, h)
            return g

        _made(forward, backward).apply(_leaf(1.0, 2.0))[0].sum().backward()


def once_differentiable_gives_one_refusing_node() -> None:
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        print(torch.is_grad_enabled())
        return g * 2, None, g * 3

    x, w = _leaf(1.0), _leaf(2.0)
    y = _made(lambda ctx, x, k, w: x * w, backward).apply(x, 1, w)
    seed = torch.ones(1, requires_grad=True)
    a, b = torch.autograd.grad(y, (x, w), seed, create_graph=True)
    print(a, b, a.grad_fn is b.grad_fn, a.grad_fn.name())
    outcome(a.backward)


def contexts_can_not_be_pickled_or_copied() -> None:
    node = _asking(lambda c, x: None).apply(_leaf(1.0)).grad_fn
    each(
        pickled=lambda: pickle.dumps(node),
        copied=lambda: copy.copy(node),
        deep=lambda: copy.deepcopy(node),
    )


def instances_are_refused() -> None:
    class Old(Function):
        def forward(self, x):
            return x * 2

    made = Old()
    outcome(made, _leaf(1.0))
    print(torch.autograd.function.NestedIOFunction.__mro__[1] is Function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(torch.autograd.function.InplaceFunction(True).inplace)


def classes_have_a_type_of_their_own() -> None:
    made = _made(lambda ctx, x: x)
    print(type(made).__name__, made._backward_cls.__name__, made._backward_cls._forward_cls is made)

    class Below(made):
        pass

    print(Below.apply(_leaf(1.0)).grad_fn.name(), Function.generate_vmap_rule)


def methods_that_are_missing() -> None:
    class Nothing(Function):
        pass

    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    outcome(Nothing.apply, _leaf(1.0))
    outcome(Half.apply(_leaf(1.0)).backward)


def saving_an_intermediate_value() -> None:
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y, x)
        return y * 2

    def backward(ctx, g):
        y, x = ctx.saved_tensors
        return 2 * y * g * x

    x = _leaf(0.0, 1.0)
    (g,) = torch.autograd.grad(_made(forward, backward).apply(x).sum(), x, create_graph=True)
    print(g)
    print(torch.autograd.grad(g.sum(), x))


def errors_of_the_users_own() -> None:
    def boo(ctx, *args):
        raise ValueError("boo")

    outcome(_made(boo).apply, _leaf(1.0))
    x = _leaf(1.0)
    outcome(_made(lambda ctx, x: x * 2, boo).apply(x).backward)
    print(torch.is_grad_enabled(), (x * 2).requires_grad)


def writing_to_a_view_that_was_made_without_gradients() -> None:
    def forward(ctx, x, y):
        x.mul_(y)
        ctx.mark_dirty(x)
        return x

    apply = _made(forward, lambda ctx, g: (g, g * 3)).apply
    x, y = torch.ones(2, 2), _leaf(1.0, 2.0)
    part = x[0]
    print(apply(part, y) is part, x.grad_fn.name(), part.grad_fn.name())
    with torch.no_grad():
        other = torch.ones(2, 2)[0]
    outcome(apply, other, y)


def a_named_tuple_comes_out_as_a_tuple() -> None:
    pair = collections.namedtuple("pair", "a b")  # noqa: PYI024
    x = _leaf(1.0)
    found = _made(lambda ctx, x: pair(x * 1, x * 2), lambda ctx, g, h: g + 2 * h).apply(x)
    print(type(found).__name__, found)


def complex_and_real_arguments() -> None:
    z = torch.tensor([1 + 2j], requires_grad=True)
    _made(lambda ctx, z: z.real * 1, lambda ctx, g: g).apply(z).sum().backward()
    x = _leaf(1.0)
    _made(lambda ctx, x: x * 1j, lambda ctx, g: g.imag).apply(x).imag.backward()
    print(z.grad, x.grad)
    y = _made(lambda ctx, x: x * 1j, lambda ctx, g: g).apply(x)
    outcome(torch.autograd.grad, y.imag, x)


def a_function_inside_a_function() -> None:
    def inner(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    square = _made(inner, lambda ctx, g: g * 2 * ctx.saved_tensors[0])

    def outer(ctx, x):
        ctx.save_for_backward(x)
        return square.apply(x) * 3

    x = _leaf(2.0)
    y = _made(outer, lambda ctx, g: square.apply(ctx.saved_tensors[0] * 1) * g).apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    print(g, torch.autograd.grad(g, x))
