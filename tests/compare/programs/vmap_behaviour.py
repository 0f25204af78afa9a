"""vmap: what a function sees, where dimensions go, what is refused."""

from collections import OrderedDict, namedtuple
from functools import partial

import torch
from observation import each, near, outcome

vmap = torch.func.vmap
Pair = namedtuple("Pair", "a b")
X = torch.arange(6.0).view(3, 2)


def the_wrapper_shows_the_batch() -> None:
    vmap(lambda r: print(r) or r)(X)
    vmap(vmap(lambda r: print(r) or r))(X)


def what_a_function_sees_is_one_example() -> None:
    def look(r):
        print(r.shape, r.ndim, r.numel(), r.dtype, r.stride(), r.is_contiguous(), len(r))
        print(r.requires_grad, r.grad_fn, r.is_leaf, isinstance(r, torch.Tensor), r._version)
        return r

    vmap(look)(X)
    vmap(look, in_dims=1)(X)


def reading_elements_is_refused() -> None:
    def within(action):
        return lambda: vmap(action)(X)

    each(
        item=within(lambda r: r[0].item()),
        number=within(lambda r: float(r[0])),
        integer=within(lambda r: int(r[0])),
        truth=within(lambda r: r if r.sum() > 1 else -r),
        array=within(lambda r: r.numpy()),
        items=within(lambda r: r.tolist()),
        pointer=within(lambda r: r.data_ptr()),
        data=within(lambda r: r.data),
        equal=within(lambda r: torch.equal(r, r)),
        allclose=within(lambda r: torch.allclose(r, r)),
        asking=within(lambda r: r.requires_grad_()),
        backward=within(lambda r: r.sum().backward()),
    )


def shapes_that_differ_are_refused() -> None:
    def within(action):
        return lambda: vmap(action)(X)

    each(
        nonzero=within(lambda r: r.nonzero()),
        mask=within(lambda r: r[r > 1]),
        select=within(lambda r: torch.masked_select(r, r > 1)),
        unique=within(lambda r: r.unique()),
    )


def in_dims_that_do_not_fit() -> None:
    each(
        word=lambda: vmap(torch.sum, in_dims="a")(X),
        several=lambda: vmap(torch.sum, in_dims=(0, 0))(X),
        listed=lambda: vmap(torch.sum, in_dims=[0])(X),
        few=lambda: vmap(torch.add, in_dims=(0,))(X, X),
        nested=lambda: vmap(torch.sum, in_dims=((0,),))(X),
        fraction=lambda: vmap(torch.sum, in_dims=(1.0,))(X),
        keys=lambda: vmap(lambda d: d["a"], in_dims=({"b": 0},))({"a": X}),
        number=lambda: vmap(torch.sum)(5),
        mixed=lambda: vmap(torch.add)(X, 5),
        nothing=lambda: vmap(torch.sum)(),
        none=lambda: vmap(torch.sum, in_dims=None)(X),
        far=lambda: vmap(torch.sum, in_dims=2)(X),
        below=lambda: vmap(torch.sum, in_dims=-3)(X),
        scalar=lambda: vmap(torch.sin)(torch.tensor(1.0)),
        partial=lambda: vmap(partial(torch.add, 1), in_dims=5)(X),
        sizes=lambda: vmap(torch.add, in_dims=(0, 1))(X, torch.ones(3, 2)),
    )


def in_dims_nested_and_negative() -> None:
    print(vmap(lambda p: p["a"] + p["b"], in_dims=({"a": 0, "b": None},))({"a": X, "b": X[0]}))
    print(vmap(lambda p: Pair(p.a + p.b, p.b), in_dims=(Pair(0, None),))(Pair(X, X[0])))
    print(vmap(lambda p: p[0] + p[1], in_dims=([0, 1],))([X, X.t()]))
    print(vmap(lambda a, b: a * b.sum(), in_dims=(-1, -2))(X, torch.ones(2, 3)))
    print(vmap(lambda a, size: a.view(size), in_dims=(0, None))(X, (2, 1)))


def keyword_arguments_are_not_mapped() -> None:
    print(vmap(lambda a, k=None: a * k)(X, k=X))
    print(vmap(lambda a, k=None: a * k)(X, k=2))


def out_dims_that_do_not_fit() -> None:
    two = lambda a: (a, a)  # noqa: E731
    each(
        few=lambda: vmap(two, out_dims=(0,))(X),
        many=lambda: vmap(two, out_dims=(0, 1, 2))(X),
        word=lambda: vmap(two, out_dims="a")(X),
        far=lambda: vmap(lambda a: a, out_dims=2)(X),
        below=lambda: vmap(lambda a: a, out_dims=-3)(X),
        none=lambda: vmap(lambda a: a, out_dims=None)(X),
        number=lambda: vmap(lambda a: 5)(X),
        text=lambda: vmap(lambda a: (a, "x"))(X),
        nothing=lambda: vmap(lambda a: None)(X),
    )


def out_dims_for_each_result() -> None:
    print(vmap(lambda a: (a, a), out_dims=(0, 1))(X))
    print(vmap(lambda a: (a, 5), out_dims=(0, None))(X))
    print(vmap(lambda a: {"a": a, "b": a}, out_dims={"a": 0, "b": -1})(X))
    print(vmap(lambda a: {"a": a, "b": [a, a.sum()]})(X))
    print(vmap(lambda a: OrderedDict(z=a))(X))
    print(vmap(lambda a: torch.ones(2))(X), vmap(lambda a: torch.ones(2), out_dims=None)(X))
    print(vmap(lambda a: a.max(0))(X))


def working_in_chunks() -> None:
    seen = []
    print(vmap(lambda a: seen.append(a.shape) or a.sum(), chunk_size=2)(X), len(seen))
    print(vmap(lambda a: (a, a * 2), chunk_size=2, out_dims=(0, 1))(X))
    each(
        zero=lambda: vmap(torch.sum, chunk_size=0),
        below=lambda: vmap(torch.sum, chunk_size=-1)(X),
    )


def an_empty_batch() -> None:
    print(vmap(lambda a: a.sum())(torch.zeros(0, 3)), vmap(torch.sin)(torch.zeros(0, 3)).shape)


def a_wrapper_that_escaped() -> None:
    kept = []
    vmap(lambda a: kept.append(a) or a)(X)
    outcome(lambda: kept[0] + 1)
    print(kept[0])


def writing_into_what_has_no_batch() -> None:
    def both(action):
        return lambda: vmap(action, in_dims=(None, 0))(torch.ones(2), X)

    each(
        add=both(lambda a, b: a.add_(b)),
        mul=both(lambda a, b: a.mul_(b[0])),
        copy=both(lambda a, b: a.copy_(b)),
        put=both(lambda a, b: a.index_put_((torch.tensor([0]),), b[:1])),
        fill=both(lambda a, b: a.fill_(b[0])),
    )


def writing_in_place() -> None:
    def f(a):
        b = a.clone()
        b[0] = 7.0
        b[1:] *= 2
        b.add_(1)
        b[torch.tensor([1])] = a[:1]
        return b

    print(vmap(f)(X), torch.func.grad(lambda x: vmap(f)(x).sum())(X))
    y = X.clone()
    print(vmap(lambda a: a.mul_(2))(y), y)
    print(vmap(lambda a: a.unsqueeze_(0).transpose_(0, 1))(X.clone()))
    print(
        vmap(lambda a: torch.zeros_like(a).copy_(a))(X),
        vmap(lambda a: a.new_zeros(3).add_(a[0]))(X),
    )


def indices_that_are_batches() -> None:
    i = torch.tensor([1, 0, 1])
    m = torch.arange(24.0).view(3, 2, 4)
    print(
        vmap(lambda a, k: a[k])(X, i),
        vmap(lambda k: X[k])(i),
        vmap(lambda a: a[torch.tensor([0, 0])])(X),
    )
    print(
        vmap(lambda a, k: a[:, k])(m, torch.stack([i, i])[:, :].t()),
        vmap(lambda a: a[None, ..., ::2])(X),
    )
    print(vmap(lambda a, k: a.index_select(0, k))(m, i[:, None]))
    print(vmap(lambda a, k: a.gather(0, k))(X, torch.stack([i, i, i])[:, :2]))


def views_of_examples() -> None:
    m = torch.arange(24.0).view(2, 3, 4)
    print(vmap(lambda a: a.t())(m), vmap(lambda a: a.flatten(), in_dims=2)(m))
    print(vmap(lambda a: a.view(-1, 2))(m).shape)
    print(vmap(lambda a: a.squeeze())(m[:, :1]), vmap(lambda a: a.expand(2, 3, 4))(m).shape)
    print(vmap(lambda a: a.unsqueeze(-1))(m).shape, vmap(lambda a: a.movedim(0, 1))(m).shape)
    print(
        [p.shape for p in vmap(lambda a: a.split(2, 1))(m)],
        [p.shape for p in vmap(lambda a: a.unbind())(m)],
    )
    outcome(vmap(lambda a: a.transpose(0, 2)), m)
    outcome(vmap(lambda a: a.sum(5)), m)


def types_promote_as_for_one_example() -> None:
    d = torch.ones(2, dtype=torch.float64)
    print(
        vmap(torch.add, in_dims=(0, None))(torch.ones(2), torch.ones(1, dtype=torch.float64)).dtype
    )
    print(vmap(torch.add, in_dims=(0, None))(d, torch.ones(1)).dtype)
    print(
        vmap(torch.add, in_dims=(0, None))(d, torch.ones(())).dtype,
        vmap(lambda a: a + 0.5)(torch.arange(2)).dtype,
    )
    print(vmap(torch.mul, in_dims=(0, None))(torch.arange(2), torch.ones(3)).dtype)


def reductions_of_examples() -> None:
    m = torch.arange(24.0).view(2, 3, 4)
    f = [torch.sum, torch.mean, torch.amax, torch.std, torch.norm, torch.logsumexp]
    for g in f[:2]:
        print(
            vmap(g)(m),
            vmap(lambda a, g=g: g(a, 0))(m),
            vmap(lambda a, g=g: g(a, -1, keepdim=True))(m).shape,
        )
    print(near(vmap(torch.std)(m)), near(vmap(torch.norm)(m)), vmap(lambda a: a.amax((0, 1)))(m))
    print(
        vmap(lambda a: a.argmax())(m),
        vmap(lambda a: a.argmax(1))(m),
        vmap(lambda a: a.cumsum(0))(m)[1, 2],
    )
    print(vmap(lambda a: a.sort(descending=True).values)(X), vmap(lambda a: a.topk(1).indices)(X))
    print(
        vmap(lambda a: a.sum(0))(torch.arange(3.0)),
        vmap(lambda a: a.all())(X > 0),
        vmap(lambda a: (a > 1).any())(X),
    )


def products_of_examples() -> None:
    a, b, v = torch.arange(12.0).view(2, 2, 3), torch.arange(12.0).view(2, 3, 2), torch.ones(2, 3)
    print(
        vmap(torch.mm)(a, b),
        vmap(torch.mv)(a, v),
        vmap(torch.dot)(v, v),
        vmap(torch.outer)(v, v).shape,
    )
    print(
        vmap(torch.matmul, in_dims=(0, None))(a, b[0]),
        vmap(torch.matmul, in_dims=(None, 0))(a[0], b),
    )
    print(
        vmap(torch.matmul, in_dims=(None, 0))(v[0], b),
        vmap(lambda x: torch.einsum("ij,ij->i", x, x))(a),
    )
    outcome(vmap(torch.mm), a, v)
    outcome(vmap(torch.dot), a, v)


def nested_vmaps() -> None:
    outer = vmap(vmap(torch.mul, in_dims=(None, 0)), in_dims=(0, None))
    print(outer(X[:, 0], X[:, 1]))
    print(vmap(lambda a: vmap(lambda b: a @ b)(X))(X))
    print(vmap(vmap(torch.sum), in_dims=1)(torch.arange(24.0).view(2, 3, 4)))


def the_decorator_keeps_the_name() -> None:
    @vmap
    def increase(a):
        """One more."""
        return a + 1

    print(increase(X), increase.__name__, increase.__doc__, vmap(torch.sin).__name__)


def debug_unwrap_looks_behind() -> None:
    debug_unwrap = torch.func.debug_unwrap
    vmap(lambda a: print(debug_unwrap(a), debug_unwrap(a).sum().item()) or a)(X)
    vmap(vmap(lambda a: print(debug_unwrap(a, recurse=False)) or a))(X)
    outcome(debug_unwrap, X)
