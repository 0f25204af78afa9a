"""Indexing: what is read, what is written, which gradients flow."""

import torch
from observation import each, outcome


def _x() -> torch.Tensor:
    return torch.arange(24.0).view(2, 3, 4)


def basic_indices() -> None:
    x = _x()
    each(
        one=lambda: x[1],
        two=lambda: x[1, 2],
        three=lambda: x[1, 2, 3],
        negative=lambda: x[-1, -1],
        part=lambda: x[:, 1:],
        stepped=lambda: x[..., ::2],
        middle=lambda: x[:, 1],
        none=lambda: x[None].shape,
        nones=lambda: x[:, None, :, None].shape,
        all=lambda: x[...].shape,
        tail=lambda: x[..., -1],
        empty=lambda: x[2:],
        beyond=lambda: x[:, :99, 0],
        reversed_range=lambda: x[:, 2:1].shape,
        both=lambda: x[0, ..., 1],
        tuple_empty=lambda: x[()].shape,
    )


def basic_indices_are_views() -> None:
    x = _x()
    for v in (x[1], x[:, 1:2], x[..., 0], x[None], x[...], x[1, 2, 3], x[:]):
        print(v._is_view(), tuple(v.shape), v.stride(), v.storage_offset())


def advanced_indices() -> None:
    x = _x()
    i, j = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 1])
    each(
        one=lambda: x[i].shape,
        two=lambda: x[i, j],
        three=lambda: x[i, j, torch.tensor([0, 1, 2])],
        listed=lambda: x[[1, 0]].shape,
        lists=lambda: x[[0, 1], [1, 2]],
        negative=lambda: x[torch.tensor([-1])].shape,
        matrix=lambda: x[torch.tensor([[0, 1], [1, 0]])].shape,
        broadcast=lambda: x[torch.tensor([[0], [1]]), torch.tensor([0, 2])].shape,
        zero_d=lambda: x[torch.tensor(1)].shape,
        empty=lambda: x[torch.tensor([], dtype=torch.long)].shape,
        int32=lambda: x[i.int()].shape,
        byte=lambda: x[torch.tensor([1, 0], dtype=torch.uint8)].shape,
    )


def mixed_indices_place_the_new_dimensions() -> None:
    x = torch.zeros(2, 3, 4, 5)
    i = torch.tensor([0, 1])
    each(
        first=lambda: x[i, :, 0].shape,
        adjacent=lambda: x[:, i, i].shape,
        apart=lambda: x[i, :, i].shape,
        around=lambda: x[:, i, :, i].shape,
        with_slice=lambda: x[i, 1:].shape,
        with_none=lambda: x[None, i].shape,
        none_between=lambda: x[i, None, i].shape,
        ellipsis=lambda: x[i, ..., i].shape,
        integer=lambda: x[0, i].shape,
        integer_apart=lambda: x[0, :, i].shape,
        tail=lambda: x[..., i].shape,
        integer_between=lambda: x[i, 0, :, i].shape,
    )


def boolean_masks() -> None:
    x = _x()
    m = x > 20
    each(
        full=lambda: x[m],
        rows=lambda: x[torch.tensor([True, False])],
        two_d=lambda: x[torch.tensor([[True, False, False], [False, False, True]])],
        second=lambda: x[:, torch.tensor([True, False, True])].shape,
        true=lambda: x[True].shape,
        false=lambda: x[False].shape,
        listed=lambda: x[[True, False]].shape,
        zero_d=lambda: x[torch.tensor(True)].shape,
        none=lambda: x[x > 99],
        mixed=lambda: x[torch.tensor([True, False]), torch.tensor([1])],
        scalar=lambda: torch.tensor(5.0)[torch.tensor(True)],
        mask_and_slice=lambda: x[torch.tensor([False, True]), 1:, 0],
    )


def assigning_numbers() -> None:
    for index in (
        0,
        (0, 1),
        (Ellipsis, 0),
        slice(None),
        (slice(None), 1),
        None,
        (0, 1, 2),
        [0, 1],
        (slice(None), [0, 2]),
    ):
        x = torch.zeros(2, 3, 4)
        x[index] = 1
        print(x.sum().item(), x._version, end=" ")
    print()
    x = torch.zeros(3)
    x[torch.tensor([0, 2])] = 5.0
    x[x == 0] = -1.0
    x[torch.tensor(True)] += 1
    print(x)


def assigning_tensors() -> None:
    x = torch.zeros(2, 3)
    x[0] = torch.arange(3)
    x[:, 1] = torch.tensor([7.0, 8.0])
    x[1, [0, 2]] = torch.tensor([1.5, 2.5])
    print(x)
    x[torch.tensor([[True, False, True], [False, True, False]])] = torch.tensor([10.0, 20.0, 30.0])
    print(x)
    x[:] = torch.tensor(4.0, dtype=torch.float64)
    x[0] = torch.ones(1, 3, dtype=torch.int32)
    print(x)


def assigning_with_repeated_indices() -> None:
    x = torch.zeros(3)
    x[torch.tensor([0, 0, 1])] = torch.tensor([1.0, 2.0, 3.0])
    x[torch.tensor([2, 2])] += 1
    print(x)
    x.index_put_((torch.tensor([2, 2]),), torch.ones(2), accumulate=True)
    print(x)


def assigning_casts_to_the_tensors_dtype() -> None:
    x = torch.zeros(3, dtype=torch.int64)
    x[0] = 2.9
    x[1] = True
    x[2] = torch.tensor(-1.9)
    print(x)
    b = torch.zeros(2, dtype=torch.bool)
    b[0] = 5
    print(b)
    outcome(x.__setitem__, 0, float("nan"))
    outcome(torch.zeros(1, dtype=torch.uint8).__setitem__, 0, 300)


def swapping_rows_with_advanced_indices() -> None:
    x = torch.arange(6.0).view(3, 2)
    x[[0, 2]] = x[[2, 0]]
    print(x)
    x[0], x[1] = x[1].clone(), x[0].clone()
    print(x)
    x[1:] = x[:-1].clone()
    print(x)


def deleting_and_iterating() -> None:
    x = torch.arange(6.0).view(3, 2)
    for row in x:
        print(row, row._is_view())
    a, b, c = x
    print(
        b,
        list(x[0]),
        len(x),
        3.0 in x,
        torch.tensor(9.0) in x,
        [float(v) for v in reversed(x[:, 0])],
    )

    def delete():
        del x[0]

    outcome(delete)
    outcome(lambda: dict(enumerate(torch.tensor([1, 2]))))
    outcome(lambda: max(torch.tensor([1, 3, 2])))
    outcome(lambda: sorted(torch.tensor([3.0, 1.0, 2.0])))


def gradients_of_basic_indices() -> None:
    for index in (
        1,
        (slice(None), 1),
        (Ellipsis, slice(None, None, 2)),
        (0, 1, 2),
        None,
        (slice(1, 2), slice(None), -1),
    ):
        x = torch.ones(2, 3, 4, requires_grad=True)
        (x[index] * 2).sum().backward()
        print(x.grad.sum(), x.grad[0, 0], x.grad[1, 1])


def gradients_of_advanced_indices() -> None:
    x = torch.ones(3, 2, requires_grad=True)
    (x[torch.tensor([0, 0, 2])] * torch.arange(6.0).view(3, 2)).sum().backward()
    print(x.grad)
    y = torch.ones(3, 2, requires_grad=True)
    y[y > 0].sum().backward()
    print(y.grad)
    z = torch.ones(3, 2, requires_grad=True)
    (z[[0, 1], [1, 1]] ** 2).sum().backward()
    print(z.grad)
    z[0, 0].backward()
    print(z.grad)


def gradients_of_assignments() -> None:
    x = torch.ones(3, requires_grad=True)
    v = torch.tensor([5.0, 6.0], requires_grad=True)
    y = x * 2
    y[torch.tensor([0, 2])] = v
    y[1] = v[0] * 3
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    print(y, x.grad, v.grad)


def second_gradients_through_an_index() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x[[0, 0, 1]] ** 3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    print(g, torch.autograd.grad(g.sum(), x))


def gather_and_its_gradient() -> None:
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    i = torch.tensor([[0, 0, 2], [1, 2, 2]])
    y = x.gather(1, i)
    print(y)
    (y * torch.arange(6.0).view(2, 3)).sum().backward()
    print(x.grad, x.gather(0, torch.tensor([[1]])), torch.take_along_dim(x, i, 1).shape)


def scatter_in_its_forms() -> None:
    i = torch.tensor([[0, 1, 0]])
    src = torch.tensor([[1.0, 2.0, 3.0]])
    each(
        plain=lambda: torch.zeros(2, 3).scatter(0, i, src),
        value=lambda: torch.zeros(2, 3).scatter(0, i, 7.0),
        add=lambda: torch.zeros(1, 2).scatter_add(1, i, src),
        reduce_add=lambda: torch.ones(1, 2).scatter(1, i, src, reduce="add"),
        multiply=lambda: torch.ones(1, 2).scatter(1, i, src, reduce="multiply"),
        amax=lambda: torch.ones(1, 2).scatter_reduce(1, i, src, "amax"),
        mean=lambda: torch.ones(1, 2).scatter_reduce(1, i, src, "mean", include_self=False),
        prod=lambda: torch.ones(1, 2).scatter_reduce(1, i, src, "prod"),
        one_hot=lambda: torch.nn.functional.one_hot(torch.tensor([0, 2])),
        bad=lambda: torch.ones(1, 2).scatter_reduce(1, i, src, "some"),
    )


def scatter_gradients() -> None:
    x = torch.zeros(2, 3, requires_grad=True)
    s = torch.ones(1, 3, requires_grad=True)
    y = x.scatter(0, torch.tensor([[0, 1, 0]]), s * 2)
    (y * torch.arange(6.0).view(2, 3)).sum().backward()
    print(x.grad, s.grad)
    x.grad = s.grad = None
    (x.scatter_add(0, torch.tensor([[0, 0, 1]]), s) ** 2).sum().backward()
    print(x.grad, s.grad)


def index_select_add_copy_fill() -> None:
    x = torch.arange(6.0).view(3, 2)
    i = torch.tensor([2, 0])
    each(
        select=lambda: x.index_select(0, i),
        add=lambda: x.index_add(0, i, torch.ones(2, 2)),
        alpha=lambda: x.index_add(0, i, torch.ones(2, 2), alpha=10),
        copy=lambda: x.index_copy(0, i, torch.ones(2, 2)),
        fill=lambda: x.index_fill(1, torch.tensor([1]), -1),
        put=lambda: x.index_put((i, torch.tensor([0, 1])), torch.tensor([9.0, 8.0])),
        take=lambda: x.take(torch.tensor([5, 0])),
        put_flat=lambda: x.put(torch.tensor([1, 3]), torch.tensor([9.0, 9.0])),
    )


def where_and_masks() -> None:
    x = torch.tensor([-1.0, 2.0, -3.0], requires_grad=True)
    each(
        where=lambda: torch.where(x > 0, x, 0.0),
        both=lambda: torch.where(x > 0, 1.0, -1.0),
        ints=lambda: torch.where(x > 0, 1, 0),
        method=lambda: x.where(x > 0, torch.zeros(3)),
        fill=lambda: x.masked_fill(x < 0, 9),
        select=lambda: x.masked_select(x < 0),
        scatter=lambda: x.masked_scatter(x < 0, torch.tensor([7.0, 8.0])),
        nonzero=lambda: (x > 0).nonzero(),
        tup=lambda: torch.where(x < 0),
        as_tuple=lambda: (x < 0).nonzero(as_tuple=True),
        argwhere=lambda: torch.argwhere(x > 0),
    )
    torch.where(x > 0, x * 2, x * 3).sum().backward()
    print(x.grad)


def where_stops_nan_only_outside_the_formula() -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    torch.where(x > 0, x.sqrt(), torch.zeros(2)).sum().backward()
    print(x.grad)
    y = torch.tensor([0.0, 4.0], requires_grad=True)
    safe = torch.where(y > 0, y, torch.ones(2))
    torch.where(y > 0, safe.sqrt(), torch.zeros(2)).sum().backward()
    print(y.grad)


def sequences_as_indices() -> None:
    x = _x()
    each(
        nested=lambda: x[[[0, 1], [1, 0]]].shape,
        list_of_slices=lambda: x[[slice(None), 0]].shape,
        tuple_in_list=lambda: x[[0, 1], (0, 1)].shape,
        range_=lambda: x[range(2)].shape,
        numpy_int=lambda: x[__import__("numpy").int64(1)].shape,
        numpy_array=lambda: x[__import__("numpy").array([1, 0])].shape,
        bool_list=lambda: x[:, [True, False, True]].shape,
        ellipsis_twice=lambda: x[..., 0, ...].shape,
        tensor_slice=lambda: x[torch.tensor(0) : torch.tensor(1)].shape,
    )


def topk_sort_and_search() -> None:
    x = torch.tensor([3.0, 1.0, 2.0, 1.0])
    each(
        sort=lambda: x.sort(),
        descending=lambda: x.sort(descending=True),
        stable=lambda: x.sort(stable=True),
        argsort=lambda: x.argsort(stable=True),
        topk=lambda: x.topk(2),
        smallest=lambda: x.topk(2, largest=False),
        kth=lambda: x.kthvalue(3),
        unique=lambda: x.unique(),
        inverse=lambda: x.unique(return_inverse=True, return_counts=True),
        consecutive=lambda: torch.unique_consecutive(torch.tensor([1, 1, 2, 1])),
        search=lambda: torch.searchsorted(torch.tensor([1.0, 3.0, 5.0]), torch.tensor([2.0, 3.0])),
        right=lambda: torch.searchsorted(torch.tensor([1.0, 3.0]), torch.tensor([3.0]), right=True),
        bucket=lambda: torch.bucketize(x, torch.tensor([1.5, 2.5])),
        isin=lambda: torch.isin(x, torch.tensor([1.0])),
    )


def unpacking_shapes_in_a_function() -> None:
    def attend(q, k):
        *batch, n, d = q.shape
        return (
            (q.view(-1, n, d) @ k.view(-1, n, d).mT)
            .view(*batch, n, n)
            .diagonal(dim1=-2, dim2=-1)
            .sum()
        )

    print(attend(_x(), _x()))
