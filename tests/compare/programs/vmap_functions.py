"""Custom functions under transforms: `vmap`, `generate_vmap_rule`, and what is refused."""

import torch
from observation import each, near, outcome

Function = torch.autograd.Function
grad, jacrev, vmap = torch.func.grad, torch.func.jacrev, torch.func.vmap

X = torch.arange(6.0).view(3, 2)


class Plain(Function):
    @staticmethod
    def forward(a):
        return a * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Joined(Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Own(Plain):
    @staticmethod
    def vmap(info, in_dims, a):
        print(info, in_dims, tuple(a.shape))
        return Own.apply(a), in_dims[0]


class Power(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(a, b, n):
        print("forward", tuple(a.shape), tuple(b.shape), n)
        return a**n * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, ctx.n = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        print("backward", tuple(g.shape), ctx.needs_input_grad)
        return g * ctx.n * a ** (ctx.n - 1) * b, g * a**ctx.n, None


def functions_without_support() -> None:
    class Both(Own):
        generate_vmap_rule = True

    each(
        joined=lambda: vmap(Joined.apply)(X),
        gradient=lambda: grad(lambda a: Joined.apply(a).sum())(X),
        plain=lambda: vmap(Plain.apply)(X),
        both=lambda: vmap(Both.apply)(X),
        unbatched=lambda: vmap(lambda a: Plain.apply(torch.ones(2)) + a)(X),
    )


def the_users_rule() -> None:
    print(vmap(Own.apply)(X), vmap(Own.apply, 1, 1)(X))
    print(vmap(vmap(Own.apply))(X))
    print(grad(lambda a: vmap(Own.apply)(a).sum())(X), vmap(grad(lambda a: Own.apply(a).sum()))(X))
    print(vmap(Own.apply, randomness="same")(X))


def rules_that_return_something_else() -> None:
    def returning(result):
        class Other(Plain):
            @staticmethod
            def vmap(info, in_dims, a):
                return result(a)

        return lambda: vmap(Other.apply)(X)

    each(
        dims=returning(lambda a: (a, (0, 0))),
        none=returning(lambda a: (a[0], None)),
        tuple=returning(lambda a: ((a,), (0,))),
    )


def a_generated_rule() -> None:
    print(vmap(Power.apply, in_dims=(0, None, None))(X, X[1], 2))
    print(vmap(Power.apply, in_dims=(0, 0, None))(X, X, 2))
    print(vmap(vmap(Power.apply, in_dims=(0, 0, None)), in_dims=(0, None, None))(X, X[1], 2))


def gradients_of_a_generated_rule() -> None:
    print(grad(lambda a: vmap(Power.apply, in_dims=(0, None, None))(a, X[1], 2).sum())(X))
    print(grad(lambda b: vmap(Power.apply, in_dims=(0, None, None))(X, b, 2).sum())(X[1]))
    x, b = X.clone().requires_grad_(), X[1].clone().requires_grad_()
    out = vmap(Power.apply, in_dims=(0, None, None))(x, b, 2)
    print(out.requires_grad, torch.autograd.grad(out.sum(), (x, b)))
    print(near(jacrev(lambda a: Power.apply(a, X[1], 2))(X[0])))


def saved_results_and_choices_inside() -> None:
    class Exp(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(a):
            return a.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Choice(Plain):
        generate_vmap_rule = True

        @staticmethod
        def forward(a):
            return a if a.sum() > 1 else a * 2

    print(near(vmap(grad(lambda a: Exp.apply(a).sum()))(X), 4))
    outcome(vmap(Choice.apply), X)


def arguments_that_are_trees() -> None:
    class Tree(Plain):
        @staticmethod
        def forward(parts):
            return parts[0] + parts[1]["k"]

        @staticmethod
        def vmap(info, in_dims, parts):
            print(in_dims)
            return Tree.apply(parts), 0

    print(vmap(lambda a: Tree.apply([a, {"k": a}]))(X))


def several_results() -> None:
    class Two(Function):
        @staticmethod
        def forward(a, b):
            return a + b, a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            return g + h * b, g + h * a

        @staticmethod
        def vmap(info, in_dims, a, b):
            moved = [t if d is None else t.movedim(d, 0) for t, d in zip((a, b), in_dims)]
            return Two.apply(*moved), (0, 0)

    print(vmap(Two.apply, in_dims=(1, None))(X.t(), X[0]))
