"""Programs of several processes: DTensors that are made in place, mapped, and lose in parallel."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib

from dtensors import parts, seen
from programs import failing, program


def parallel(torch, name="parallel"):
    return importlib.import_module(f"{torch.__name__}.distributed.tensor.{name}")


@program
def tensors_made_where_they_lie(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    cut = {"device_mesh": mesh, "placements": [t.Shard(0)]}
    made = [
        t.zeros(5, 3, **cut), t.ones((5, 3), device_mesh=mesh), t.full([2, 5], 7, **cut),
        t.full((1, 4), 2.5, device_mesh=mesh, placements=[t.Partial()]),
        t.zeros([4], dtype=torch.int64, **cut), t.ones(2, 4, requires_grad=True, **cut),
        t.zeros(device_mesh=mesh), t.full((3, 2), True, device_mesh=mesh, placements=[t.Shard(1)]),
    ]  # fmt: skip
    with mesh:
        made.append(t.ones(3))
    nothing = t.empty(6, 2, dtype=torch.float64, **cut)
    made[5].sum().backward()
    return [
        [seen(x.detach()) for x in made], [x.stride() for x in made], made[5].grad.full_tensor(),
        [list(nothing.shape), str(nothing.dtype), list(nothing.to_local().shape)],
        [x.requires_grad for x in made],
        failing(lambda: t.zeros(4)), failing(lambda: t.zeros(4, device_mesh=mesh, placements=[
            t.Shard(0), t.Shard(0)])),
        failing(lambda: t.zeros(2, device_mesh=mesh, layout=torch.sparse_coo)),
        failing(lambda: t.zeros(2, device_mesh=mesh, placements=[t.Shard(1)])),
        failing(lambda: t.ones(2, device_mesh=mesh, placements=[t.Shard(-1)])),
    ]  # fmt: skip


@program
def groups_that_one_is_not_in(torch, dist, rank, size):
    outside = dist.GroupMember.NON_GROUP_MEMBER
    # In PyTorch the ranks of the last group that a process isn't in are those of this number.
    return [
        outside, failing(lambda: dist.get_process_group_ranks("none")),
        failing(lambda: dist.get_backend_config(outside)), dist.get_rank(outside),
        failing(lambda: dist.get_group_rank("none", 0)), dist.get_world_size(outside),
    ]  # fmt: skip


def of_classes(torch, t, mesh, placements, shape, target_placements=None, **options):
    """The loss of logits that are cut along their classes, and the gradient."""
    torch.manual_seed(0)
    classes = shape[1] if len(shape) > 1 else shape[0]
    logits = torch.randn(shape, requires_grad=True)
    target = torch.randint(classes, shape[:1] + shape[2:] if len(shape) > 1 else ())
    if "ignore_index" in options:
        target.reshape(-1)[0] = options["ignore_index"]
    if target_placements is not None:
        target = t.distribute_tensor(target, mesh, target_placements)
    x = t.distribute_tensor(logits, mesh, placements)
    with parallel(torch).loss_parallel():
        loss = torch.nn.functional.cross_entropy(x, target, **options)
        (loss.sum() if loss.dim() else loss).backward()
    with torch.no_grad():
        whole = loss.full_tensor()
    return [whole, list(loss.shape), str(loss.placements), x.grad.full_tensor(), x.grad.to_local()]


def refused(torch, *args, **options):
    """The error of a loss; PyTorch leaves the mode on where one comes out of it."""
    found = failing(lambda: of_classes(torch, *args, **options))
    with parallel(torch).loss_parallel():
        pass
    return found


@program
def losses_of_logits_that_are_cut_by_class(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    cut = [t.Shard(1)]  # every rank has a class: PyTorch fails where one has none
    weight = torch.arange(1.0, 8.0)
    return [
        of_classes(torch, t, mesh, cut, (6, 8)),
        of_classes(torch, t, mesh, cut, (3, 7)),
        of_classes(torch, t, mesh, cut, (6, 8), reduction="sum"),
        of_classes(torch, t, mesh, cut, (6, 8), reduction="none"),
        of_classes(torch, t, mesh, cut, (4, 7), ignore_index=-100),
        of_classes(torch, t, mesh, cut, (4, 7), ignore_index=3),
        of_classes(torch, t, mesh, cut, (4, 7), weight=weight),
        of_classes(torch, t, mesh, cut, (4, 7), weight=weight, reduction="sum"),
        of_classes(torch, t, mesh, cut, (2, 10, 3)),
        of_classes(torch, t, mesh, cut, (2, 10, 3), reduction="none"),
        of_classes(torch, t, mesh, [t.Shard(0)], (8,)),
        of_classes(torch, t, mesh, cut, (6, 8), [t.Replicate()]),
        refused(torch, t, mesh, [t.Replicate()], (6, 8)),
        refused(torch, t, mesh, [t.Shard(0)], (6, 8)),
    ]


@program
def losses_of_logits_over_two_sides(torch, dist, rank, size):
    t, mesh = parts(torch, dist, (2, 2) if size == 4 else (1, size))
    cut = [t.Shard(0), t.Shard(1)]
    rows = [t.Shard(0), t.Replicate()]
    return [
        of_classes(torch, t, mesh, cut, (6, 8), rows, reduction="sum")[:3],
        of_classes(torch, t, mesh, cut, (6, 8), rows, reduction="none")[:3],
        of_classes(torch, t, mesh, [t.Replicate(), t.Shard(1)], (6, 8), reduction="sum")[:4],
        refused(torch, t, mesh, cut, (6, 8), rows),
        refused(torch, t, mesh, cut, (6, 8), reduction="sum"),
    ]


@program
def losses_of_logits_without_the_parallel_loss(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    out = []
    weighted, ignoring = {"weight": torch.arange(1.0, 9.0)}, {"ignore_index": 2}
    for placements in ([t.Shard(1)], [t.Shard(0)], [t.Replicate()]):
        # Of rows that are cut PyTorch gives the mean of the ranks' means, each with its own total.
        for options in ({},) if placements == [t.Shard(0)] else ({}, weighted, ignoring):
            torch.manual_seed(1)
            logits, target = torch.randn(12, 8, requires_grad=True), torch.randint(8, (12,))
            x = t.distribute_tensor(logits, mesh, placements)
            given = {key: t.distribute_tensor(value, mesh) if key == "weight" else value
                     for key, value in options.items()}  # fmt: skip
            loss = torch.nn.functional.cross_entropy(x, t.distribute_tensor(target, mesh), **given)
            loss.backward()
            out.append([loss.full_tensor().detach(), x.grad.full_tensor()])
    return out


@program
def inputs_and_outputs_laid_out(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    p = parallel(torch)
    style = p.PrepareModuleInputOutput(
        input_layouts=t.Shard(0), desired_input_layouts=t.Replicate(),
        output_layouts=t.Replicate(), desired_output_layouts=t.Shard(1), use_local_input=True,
    )  # fmt: skip
    seen_inside = []

    class Inner(torch.nn.Module):
        def forward(self, x):
            seen_inside.append([type(x).__name__, list(x.shape)])
            return x * 2

    model = p.parallelize_module(Inner(), mesh, style)
    x = torch.arange(8.0).reshape(2, 4) + rank
    x.requires_grad_()
    out = model(x)
    out.sum().backward()
    other = p.PrepareModuleInputOutput(
        input_layouts=(t.Shard(0),), desired_input_layouts=(t.Shard(1),),
        output_layouts=(t.Shard(1),), desired_output_layouts=(t.Replicate(),),
        use_local_output=False,
    )  # fmt: skip
    spread = p.parallelize_module(Inner(), mesh, other)(x.detach())
    return [
        seen_inside, out, x.grad, seen(spread), repr(style), repr(other),
        failing(lambda: p.PrepareModuleInputOutput(
            input_layouts=(t.Shard(0), None), desired_input_layouts=t.Shard(0),
            output_layouts=t.Shard(0), desired_output_layouts=t.Shard(0))),
    ]  # fmt: skip


@program
def functions_of_pieces(torch, dist, rank, size):
    t, mesh = parts(torch, dist)
    local_map = parallel(torch, "experimental").local_map
    a = t.distribute_tensor(torch.arange(2.0 * size * 3).reshape(3, 2 * size), mesh, [t.Shard(1)])
    b = t.distribute_tensor(torch.arange(4.0 * size).reshape(2 * size, 2), mesh, [t.Shard(0)])
    a.requires_grad_(), b.requires_grad_()
    product = local_map(torch.mm, [t.Partial()], ([t.Shard(1)], [t.Shard(0)]))
    made = product(a, b)
    made.redistribute(placements=[t.Replicate()]).to_local().sum().backward()

    @local_map(out_placements=([t.Shard(0)], None, [t.Replicate()]))
    def several(pair, factor, name="none"):
        return {"a": pair[0] * factor, "b": name, "c": torch.ones(2)}

    many = several([b.detach(), 3], 2.0, name="given")
    wrong = local_map(torch.mm, [t.Partial()], ([t.Replicate()], [t.Shard(0)]))
    moved = local_map(torch.mm, [t.Partial()], ([t.Shard(1)], [t.Shard(0)]),
                      redistribute_inputs=True)  # fmt: skip
    whole = t.distribute_tensor(torch.ones(2 * size, 2), mesh)
    back = local_map(lambda x: x * 2, [t.Shard(0)], ([t.Replicate()],), ([t.Partial()],), mesh)
    whole.requires_grad_()
    back(whole).sum().backward()
    short = [error[0] for error in (
        failing(lambda: wrong(a, b)), failing(lambda: product(a)),
        failing(lambda: local_map(torch.mm, ([t.Partial()], None))(a, b)),
        failing(lambda: local_map(lambda x: 3, [t.Shard(0)])(a)),
        failing(lambda: local_map(lambda x: x, [t.Shard(0)], (None,))(a)),
        failing(lambda: local_map(lambda x, y: x, [t.Shard(1)], ([t.Shard(1)],) * 2)(a, 3)),
    )]  # fmt: skip
    return [
        seen(made.detach()), a.grad.full_tensor(), b.grad.full_tensor(), seen(many["a"]),
        many["b"], seen(many["c"]), seen(moved(a, whole).detach()), whole.grad.full_tensor(),
        product(torch.ones(2, 2), torch.ones(2, 2)), short,
    ]  # fmt: skip
