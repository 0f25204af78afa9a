"""Programs of several processes: tensors that lie over the ranks of a mesh."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib

from programs import failing, program


def parts(torch, dist, shape=None):
    t = importlib.import_module(f"{torch.__name__}.distributed.tensor")
    size = dist.get_world_size()
    return t, dist.init_device_mesh("cpu", shape or (size,))


def seen(x):
    return [list(x.shape), str(x.placements), x.to_local(), x.full_tensor()]


@program
def tensors_spread_over_ranks(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    out = []
    for dim, shape in ((0, (8, 3)), (1, (3, 8)), (0, (5, 2)), (-1, (2, 3)), (0, (1, 2))):
        x = torch.arange(float(shape[0] * shape[1])).reshape(shape) + rank
        spread = t.distribute_tensor(x, mesh, [t.Shard(dim)])
        out.append([seen(spread), spread.redistribute(placements=[t.Replicate()]).to_local()])
    whole = t.distribute_tensor(torch.ones(3) * rank, mesh)
    cut = t.distribute_tensor(torch.arange(12.0).reshape(3, 4), mesh, [t.Shard(0)])
    out += [seen(whole), seen(cut.redistribute(placements=[t.Shard(1)]))]
    part = t.DTensor.from_local(torch.ones(4, 2) * (rank + 1), mesh, [t.Partial()])
    out += [seen(part), seen(part.redistribute(placements=[t.Shard(0)]))]
    most = t.DTensor.from_local(torch.ones(2) * (rank + 1), mesh, [t.Partial("max")])
    out += [most.full_tensor(), str(part.placements), str(t.Shard(1)), repr(mesh) in repr(cut)]
    return out


@program
def layouts_that_are_refused(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    cut = t.distribute_tensor(torch.ones(4, 4), mesh, [t.Shard(0)])
    w = torch.ones(2, requires_grad=True)
    return [
        failing(lambda: t.distribute_tensor(w * 1, mesh)),
        failing(lambda: t.distribute_tensor(w, mesh, [t.Shard(0), t.Shard(1)])),
        failing(lambda: t.distribute_tensor(cut, mesh, [t.Shard(1)])),
        failing(cut.redistribute),
        failing(lambda: cut.redistribute(placements=[t.Partial()])),
        failing(lambda: t.DTensor.from_local(cut, mesh)),
        failing(lambda: cut + torch.ones(4, 4))[0],
    ]


@program
def layouts_on_two_sides(torch, dist, rank, size):
    t, mesh = parts(torch, dist, (2, 2) if size == 4 else (1, size))
    x = torch.arange(48.0).reshape(6, 8)
    out = []
    layouts = [
        [t.Shard(0), t.Shard(1)], [t.Shard(0), t.Shard(0)], [t.Replicate(), t.Shard(1)],
        [t.Shard(1), t.Replicate()], [t.Shard(1), t.Shard(1)],
    ]  # fmt: skip
    for layout in layouts:
        spread = t.distribute_tensor(x, mesh, layout)
        out.append(seen(spread))
        out += [spread.redistribute(placements=other).to_local() for other in layouts]
    other = t.distribute_tensor(x.t().clone(), mesh, layouts[0])
    return [out, (t.distribute_tensor(x, mesh, layouts[0]) @ other).full_tensor()]


@program
def operators_on_pieces(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    x = torch.arange(32.0).reshape(8, 4) / 10 - 1
    cut = t.distribute_tensor(x, mesh, [t.Shard(0)])
    other = t.distribute_tensor(x * 2, mesh, [t.Shard(0)])
    whole = t.distribute_tensor(x[0].clone(), mesh)
    results = [
        cut + other, cut * whole, cut.exp(), torch.where(cut > 0, cut, other), cut + 1, -cut,
        cut.sum(), cut.sum(0), cut.sum(1), cut.mean(), cut.mean(1, keepdim=True), cut.max(),
        cut @ t.distribute_tensor(x.t().clone(), mesh), cut.t(), cut.t() @ other,
        cut.view(8, 2, 2), cut.unsqueeze(0), cut.transpose(0, 1),
        cut.softmax(-1), cut.softmax(0), torch.cat([cut, other], 1), torch.cat([cut, other], 0),
        torch.stack([cut, other]), cut[:, 1:3], cut[1:3], cut.expand(2, 8, 4), cut.clone(),
        cut.to(torch.float64), torch.zeros_like(cut), cut.sum(0) + 1, cut.sum() * 2,
        torch.nn.functional.gelu(cut), cut.std(1), cut.prod(1), cut.abs().amax(1), cut.clamp(0, 1),
        cut.norm(), cut.argmax(1),
    ]  # fmt: skip
    if 8 % size == 0:  # PyTorch refuses it for pieces of several lengths
        results.append(cut.reshape(32))
    places = [str(r.placements) for r in results[:10]]
    return [places, [[list(r.shape), str(r.dtype), r.full_tensor()] for r in results]]


@program
def operators_in_place_on_pieces(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    x = t.distribute_tensor(torch.arange(8.0), mesh, [t.Shard(0)])
    whole = t.distribute_tensor(torch.ones(8), mesh)
    x.add_(whole, alpha=2).mul_(3)
    whole += x
    x.zero_()
    return [seen(x), seen(whole)]


@program
def gradients_through_layouts(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    local = (torch.arange(8.0).reshape(2, 4) + rank).requires_grad_()
    cut = t.DTensor.from_local(local, mesh, [t.Shard(0)])
    weight = t.distribute_tensor(
        torch.arange(12.0).reshape(3, 4).requires_grad_(), mesh, [t.Shard(0)]
    )
    bias = t.distribute_tensor(torch.ones(3).requires_grad_(), mesh)
    y = torch.nn.functional.linear(cut, weight, bias).tanh()
    out = y.full_tensor()
    (out * torch.arange(out.numel() * 1.0).reshape(out.shape)).sum().backward()
    again = t.distribute_tensor(torch.arange(6.0).requires_grad_(), mesh, [t.Shard(0)])
    moved = again.redistribute(placements=[t.Replicate()])
    (moved.to_local() * (rank + 1)).sum().backward()
    plain = torch.arange(3.0).requires_grad_()
    summed = t.DTensor.from_local(plain * (rank + 1), mesh, [t.Partial()])
    (summed.full_tensor() ** 2).sum().backward()
    return [
        out, local.grad, weight.grad.full_tensor(), bias.grad.full_tensor(),
        again.grad.to_local(), plain.grad,
    ]  # fmt: skip


def mlp(torch, seed=0, between=8):
    torch.manual_seed(seed)
    nn = torch.nn

    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.act, self.down = nn.Linear(6, between), nn.GELU(), nn.Linear(between, 4)
            self.norm = nn.LayerNorm(4)

        def forward(self, x):
            return self.norm(self.down(self.act(self.up(x))))

    return MLP().double()


@program
def layers_by_columns_and_rows(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    p = importlib.import_module(f"{t.__name__}.parallel")
    model = mlp(torch, 0, 4 * size)
    plan = {"up": p.ColwiseParallel(), "down": p.RowwiseParallel()}
    p.parallelize_module(model, mesh, plan)
    out = []
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        optimizer = kind(model.parameters(), lr=0.05)
        for step in range(3):
            x = torch.sin(torch.arange(30.0).reshape(5, 6) + step).double()
            optimizer.zero_grad()
            loss = (model(x) - 0.3).pow(2).mean()
            loss.backward()
            optimizer.step()
            out.append(loss)
    state = {k: [str(getattr(v, "placements", "")), v] for k, v in model.state_dict().items()}
    full = {k: v.full_tensor() if p else v for k, (p, v) in state.items()}
    bad = failing(lambda: p.parallelize_module(torch.nn.ReLU(), mesh, p.ColwiseParallel()))
    return [out, {k: p for k, (p, _) in state.items()}, full, bad, repr(plan["up"])]


@program
def layers_by_position(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    p = importlib.import_module(f"{t.__name__}.parallel")
    model = mlp(torch, 1, 4 * size)
    p.parallelize_module(model, mesh, {
        "up": p.ColwiseParallel(input_layouts=t.Shard(1)),
        "down": p.RowwiseParallel(output_layouts=t.Shard(1)),
        "norm": p.SequenceParallel(use_local_output=True),
    })  # fmt: skip
    whole = torch.sin(torch.arange(2.0 * 2 * size * 6).reshape(2, 2 * size, 6).double())
    mine = whole.chunk(size, 1)[rank].clone().requires_grad_()
    out = model(mine)
    out.pow(3).sum().backward()
    table = torch.nn.Embedding(10, 4 * size)
    p.parallelize_module(table, mesh, p.ColwiseParallel(output_layouts=t.Replicate()))
    vectors = table(torch.tensor([[1, 2], [9, 0]]))
    grads = {k: v.grad.full_tensor() for k, v in model.named_parameters() if v.grad is not None}
    return [out, mine.grad, grads, vectors]


@program
def models_on_every_rank(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    model = t.distribute_module(mlp(torch, 2), mesh)
    x = torch.sin(torch.arange(24.0 * size).reshape(4 * size, 6)).double()
    out = model(t.distribute_tensor(x, mesh, [t.Shard(0)]))
    loss = out.pow(2).mean()
    loss.backward()
    total = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return [
        loss.full_tensor(), str(out.placements), total.full_tensor(),
        {k: v.full_tensor() for k, v in model.named_parameters()},
    ]  # fmt: skip


@program
def norms_of_what_lies_in_pieces(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    x = t.distribute_tensor(torch.sin(torch.arange(28.0)).reshape(7, 4), mesh, [t.Shard(0)])
    y = t.distribute_tensor(torch.cos(torch.arange(7.0)), mesh, [t.Shard(0)])
    few = t.distribute_tensor(torch.ones(2), mesh, [t.Shard(0)])  # nothing on the third rank
    both = lambda: torch.stack([x.norm(), y.norm()])  # noqa: E731
    laid = [
        x.norm(), x.norm(3), torch.linalg.vector_norm(x, 2, dim=1),
        torch.linalg.vector_norm(x, 2, dim=0, keepdim=True), torch.linalg.vector_norm(x, 0),
        torch.linalg.vector_norm(x, 1), x.norm() * 2, both(), both().norm(), x.norm() + y.norm(),
        few.norm(), both().unsqueeze(0).transpose(0, 1),
    ]  # fmt: skip
    out = [[str(n.placements), n.full_tensor()] for n in laid]
    out += [torch.linalg.vector_norm(x, order).full_tensor() for order in (float("inf"), 0.5)]
    out += [y.amax().full_tensor(), y.min().full_tensor()]
    for order in (2.0, 3.0, float("inf")):
        some = [p.detach().clone().requires_grad_() for p in (x, y)]
        for p in some:
            (p * p).sum().backward()
        norm = torch.nn.utils.clip_grad_norm_(some, 0.5, norm_type=order, foreach=False)
        out += [norm.full_tensor(), *[p.grad.full_tensor() for p in some]]
    return out
