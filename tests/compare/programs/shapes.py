"""Shape operations: results, views or copies, gradients."""

import torch
from observation import each, outcome


def _x() -> torch.Tensor:
    return torch.arange(6.0).view(2, 3)


def reshaping() -> None:
    x = _x()
    each(
        view=lambda: x.view(3, 2),
        infer=lambda: x.view(-1),
        reshape=lambda: x.reshape(1, 6),
        of_t=lambda: x.t().reshape(2, 3),
        flat=lambda: x.flatten(),
        ravel=lambda: x.t().ravel(),
        unflatten=lambda: x.unflatten(1, (3, 1)).shape,
        flat_part=lambda: torch.zeros(2, 3, 4).flatten(1).shape,
        size=lambda: x.view(torch.Size([6])),
        same=lambda: x.reshape(2, 3).data_ptr() == x.data_ptr(),
        as_other=lambda: x.view_as(torch.zeros(6)),
        empty=lambda: torch.zeros(0, 3).view(3, 0).shape,
        scalar=lambda: torch.tensor(1.0).view(1, 1),
        infer_empty=lambda: torch.zeros(0).view(-1, 0),
    )


def transposing() -> None:
    x = torch.arange(24).view(2, 3, 4)
    each(
        transpose=lambda: x.transpose(0, 1).stride(),
        permute=lambda: x.permute(2, 0, 1).shape,
        negative=lambda: x.permute(-1, 0, 1).shape,
        t=lambda: _x().t(),
        T=lambda: x.T.shape,
        mT=lambda: x.mT.shape,
        mH=lambda: x.mH.shape,
        H=lambda: _x().H,
        movedim=lambda: x.movedim((0, 1), (1, 2)).shape,
        moveaxis=lambda: x.moveaxis(0, -1).shape,
        swap=lambda: x.swapdims(0, 2).shape,
        tuple_arg=lambda: x.permute((2, 1, 0)).shape,
        t1=lambda: torch.arange(3).t(),
        adjoint=lambda: torch.tensor([[1j, 2]]).adjoint(),
    )


def adding_and_removing_dimensions() -> None:
    x = torch.zeros(1, 3, 1)
    each(
        squeeze=lambda: x.squeeze().shape,
        one=lambda: x.squeeze(0).shape,
        many=lambda: x.squeeze((0, 2)).shape,
        not_one=lambda: x.squeeze(1).shape,
        unsqueeze=lambda: x.unsqueeze(-1).shape,
        at_least=lambda: torch.atleast_2d(torch.tensor(1.0)),
        at_least_many=lambda: [t.shape for t in torch.atleast_1d(torch.tensor(1.0), x)],
        scalar=lambda: torch.tensor(5).squeeze(),
    )


def expanding_and_repeating() -> None:
    v = torch.tensor([1, 2, 3])
    each(
        expand=lambda: v.expand(2, 3),
        minus=lambda: v.expand(2, -1).stride(),
        as_other=lambda: v.expand_as(torch.zeros(2, 3)),
        broadcast=lambda: torch.broadcast_to(v, (2, 3)),
        repeat=lambda: v.repeat(2),
        repeat2=lambda: v.repeat(2, 1),
        tile=lambda: v.tile((2, 2)),
        interleave=lambda: v.repeat_interleave(2),
        counts=lambda: v.repeat_interleave(torch.tensor([1, 0, 2])),
        dim=lambda: _x().repeat_interleave(2, 1),
        tensors=lambda: torch.broadcast_tensors(v, torch.zeros(2, 1)),
        shapes=lambda: torch.broadcast_shapes((2, 1), (3,)),
        zero=lambda: v.repeat(0),
    )


def joining() -> None:
    x = _x()
    each(
        cat=lambda: torch.cat([x, x]),
        dim=lambda: torch.cat((x, x), dim=1),
        concat=lambda: torch.concat([x, x], -1).shape,
        stack=lambda: torch.stack([x, x], 1).shape,
        h=lambda: torch.hstack([x[0], x[1]]),
        v=lambda: torch.vstack([x[0], x[1]]),
        d=lambda: torch.dstack([x, x]).shape,
        column=lambda: torch.column_stack([x[0], x[1]]),
        empty=lambda: torch.cat([torch.zeros(0), x[0]]),
        axis=lambda: torch.cat([x, x], axis=1).shape,
        block=lambda: torch.block_diag(x, torch.ones(1, 1)),
        mixed=lambda: torch.cat([x, x.long()]).dtype,
        out=lambda: torch.cat([x, x], out=torch.empty(4, 3)).shape,
    )


def splitting() -> None:
    x = torch.arange(7)
    each(
        split=lambda: x.split(3),
        sizes=lambda: x.split([2, 5]),
        chunk=lambda: x.chunk(3),
        uneven=lambda: torch.arange(5).chunk(4),
        tensor_split=lambda: x.tensor_split(3),
        at=lambda: x.tensor_split((2, 4)),
        unbind=lambda: _x().unbind(1),
        h=lambda: torch.hsplit(_x(), 3),
        v=lambda: torch.vsplit(_x(), 2),
        narrow=lambda: x.narrow(0, 2, 3),
        select=lambda: _x().select(1, 1),
        unfold=lambda: x.unfold(0, 3, 2),
    )


def flipping_and_rolling() -> None:
    x = _x()
    each(
        flip=lambda: x.flip(1),
        both=lambda: x.flip((0, 1)),
        ud=lambda: x.flipud(),
        lr=lambda: x.fliplr(),
        roll=lambda: x.roll(1),
        dim=lambda: x.roll(1, 1),
        many=lambda: x.roll((1, 1), (0, 1)),
        rot=lambda: x.rot90(),
        rot_back=lambda: torch.rot90(x, -1),
        rot2=lambda: x.rot90(2, [0, 1]),
    )


def triangles_and_diagonals() -> None:
    x = torch.arange(9.0).view(3, 3)
    each(
        tril=lambda: x.tril(),
        lower=lambda: x.tril(-1),
        triu=lambda: x.triu(1),
        diag=lambda: x.diag(),
        off=lambda: x.diag(1),
        make=lambda: torch.diag(torch.tensor([1, 2])),
        diagonal=lambda: x.diagonal(-1),
        embed=lambda: torch.diag_embed(torch.ones(2, 2)).shape,
        indices=lambda: torch.tril_indices(2, 2),
        upper=lambda: torch.triu_indices(2, 3),
        trace=lambda: x.trace(),
        fill=lambda: x.clone().fill_diagonal_(7),
        flat=lambda: torch.diagflat(torch.tensor([1, 2]), 1),
        vander=lambda: torch.vander(torch.tensor([1, 2, 3])),
    )


def grids_and_products() -> None:
    a, b = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
    each(
        ij=lambda: torch.meshgrid(a, b, indexing="ij"),
        xy=lambda: torch.meshgrid(a, b, indexing="xy"),
        default=lambda: torch.meshgrid(a, b),
        product=lambda: torch.cartesian_prod(a, b),
        combinations=lambda: torch.combinations(b),
        outer=lambda: torch.outer(a, b),
        kron=lambda: torch.kron(a, b),
    )


def padding() -> None:
    pad = torch.nn.functional.pad
    x = torch.arange(4.0).view(1, 1, 2, 2)
    each(
        one=lambda: pad(x, (1, 1)),
        two=lambda: pad(x, (1, 0, 0, 1), value=9),
        reflect=lambda: pad(x, (1, 1, 1, 1), "reflect"),
        replicate=lambda: (
            pad(x, (1, 1), "replicate") if False else pad(x, (1, 1, 1, 1), "replicate")
        ),
        circular=lambda: pad(x, (1, 0, 0, 0), "circular"),
        negative=lambda: pad(x, (-1, 0)),
        bad=lambda: pad(x, (1,)),
        mode=lambda: pad(x, (1, 1), "mirror"),
        large=lambda: pad(x, (2, 2, 2, 2), "reflect"),
    )


def contiguity() -> None:
    x = _x()
    print(
        x.t().is_contiguous(),
        x.t().contiguous().stride(),
        x.contiguous() is x,
        x[:, :2].contiguous().stride(),
        x.expand(2, 2, 3).contiguous().stride(),
    )
    y = torch.zeros(1, 2, 3, 4)
    z = y.to(memory_format=torch.channels_last)
    print(
        z.stride(),
        z.is_contiguous(),
        z.is_contiguous(memory_format=torch.channels_last),
        z.contiguous().stride(),
    )


def gradients_of_reshaping() -> None:
    for f in (
        lambda x: x.t().reshape(6),
        lambda x: x.flatten()[1:4],
        lambda x: x.permute(1, 0)[1],
        lambda x: x.expand(2, 2, 3),
        lambda x: x.repeat(2, 2),
        lambda x: x.flip(0, 1)[0],
        lambda x: x.roll(1, 1)[:, 0],
        lambda x: x.unfold(1, 2, 1),
        lambda x: x.tril(),
        lambda x: x.diagonal(),
        lambda x: x.rot90()[0],
        lambda x: x.repeat_interleave(3, 0),
        lambda x: x.squeeze().unsqueeze(0),
    ):
        x = _x().requires_grad_()
        y = f(x)
        (y * torch.arange(1.0, y.numel() + 1).view(y.shape)).sum().backward()
        print(x.grad)


def gradients_of_joining_and_splitting() -> None:
    x, y = _x().requires_grad_(), torch.ones(2, 3, requires_grad=True)
    w = torch.arange(12.0)
    (torch.cat([x, y * 2], 1).flatten() * w).sum().backward()
    (torch.stack([x, y], 2).flatten() * w).sum().backward()
    a, b = x.split([1, 2], 1)
    (a * b).sum().backward()
    c, _ = x.chunk(2)
    c.sum().backward()
    print(x.grad, y.grad)
    print(torch.autograd.grad(torch.nn.functional.pad(x, (1, 1), value=3).pow(2).sum(), x))
    print(torch.autograd.grad(torch.nn.functional.pad(x[None], (2, 1), "reflect").pow(2).sum(), x))


def cat_with_an_operand_that_needs_no_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    y = torch.cat([torch.zeros(1), x, torch.zeros(1)])
    print(y, y.grad_fn.next_functions)
    y.sum().backward()
    print(x.grad)


def empty_tensors_flow_through() -> None:
    x = torch.zeros(0, 3, requires_grad=True)
    each(
        sum=lambda: x.sum(),
        matmul=lambda: (x @ torch.ones(3, 2)).shape,
        other=lambda: torch.ones(2, 0) @ torch.ones(0, 3),
        cat=lambda: torch.cat([x, torch.ones(1, 3)]),
        mean=lambda: x.mean(0),
        stack=lambda: torch.stack([x]).shape,
        exp=lambda: x.exp(),
        index=lambda: x[:, 1],
        linear=lambda: torch.nn.Linear(3, 2)(x).shape,
        max=lambda: x.max(),
    )
    (x * 2).sum().backward()
    print(x.grad)


def joined_tensors_lie_as_their_parts_do() -> None:
    def last(*shape: int) -> torch.Tensor:
        return torch.zeros(shape).contiguous(memory_format=torch.channels_last)

    x, y = last(4, 3, 8, 8), torch.zeros(4, 3, 8, 8)
    parts = last(2, 2, 3, 2)[:, :, :2]
    for dim in range(4):
        print(
            torch.cat((x, x), dim).stride(),
            torch.cat((x, y), dim).stride(),
            torch.cat((x,), dim).stride(),
            torch.cat((x, torch.empty(0)), dim).stride(),
            torch.cat((parts, parts), dim).stride(),
            torch.cat((x, x), dim, out=torch.empty(0)).stride(),
            torch.cat((x, y), dim, out=torch.empty(0)).stride(),
            torch.cat((y, y), dim, out=torch.cat((x, x), dim)).stride(),
        )
    print(torch.hstack((x, x), out=torch.empty(0)).stride())
    outcome(torch.meshgrid, torch.ones(1), torch.ones(1, device="meta"), indexing="ij")
