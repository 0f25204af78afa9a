"""Programs of several processes: meshes, and what is spread over their ranks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import copy
import importlib

from programs import failing, program


def submodule(torch, name):
    return importlib.import_module(f"{torch.__name__}.{name}")


def described(mesh):
    return [
        mesh.mesh, mesh.mesh_dim_names, mesh.ndim, list(mesh.shape), mesh.size(), repr(mesh),
        mesh.get_coordinate(), mesh.get_rank(),
    ]  # fmt: skip


def summed(torch, dist, group):
    x = torch.tensor([1.0 + dist.get_rank()])
    dist.all_reduce(x, group=group)
    return [x, dist.get_process_group_ranks(group)]


@program
def meshes_of_one_side(torch, dist, rank, size):
    mesh = dist.init_device_mesh("cpu", (size,), mesh_dim_names=("all",))
    plain = dist.init_device_mesh("cpu", (size,))
    return [
        described(mesh), described(plain), summed(torch, dist, mesh.get_group()),
        mesh.get_local_rank(), mesh["all"] == mesh, mesh == plain,
        failing(lambda: mesh["other"]), failing(lambda: plain["all"]),
        failing(lambda: mesh.get_group("other")),
        failing(lambda: dist.init_device_mesh("cpu", (size + 1,))),
        failing(lambda: dist.init_device_mesh("cpu", (size,), mesh_dim_names=("a", "b"))),
        failing(lambda: dist.init_device_mesh("cpu", (1, size), mesh_dim_names=("a", "a"))),
        failing(lambda: dist.init_device_mesh("cpu:0", (size,))),
    ]  # fmt: skip


@program
def meshes_of_two_sides(torch, dist, rank, size):
    shape = (2, 2) if size == 4 else (1, size)
    mesh = dist.init_device_mesh("cpu", shape, mesh_dim_names=("rows", "columns"))
    rows, columns = mesh["rows"], mesh["columns"]
    return [
        described(mesh), described(rows), described(columns),
        summed(torch, dist, mesh.get_group("rows")), summed(torch, dist, mesh.get_group(1)),
        summed(torch, dist, columns.get_group()), mesh.get_local_rank("columns"),
        len(mesh.get_all_groups()), failing(mesh.get_group), failing(mesh.get_local_rank),
        size == 4 and failing(lambda: mesh["columns", "rows"]), mesh["rows", "columns"] == mesh,
        described(mesh._flatten("both")), summed(torch, dist, mesh["both"].get_group()),
        hash(rows) == hash(mesh["rows"]), rows == columns,
    ]  # fmt: skip


@program
def meshes_of_given_groups_and_ranks(torch, dist, rank, size):
    mesh = submodule(torch, "distributed.device_mesh").DeviceMesh
    backwards = mesh("cpu", list(range(size))[::-1])
    world = mesh.from_group(dist.group.WORLD, "cpu", mesh_dim_names=("w",))
    return [
        described(backwards), backwards.get_local_rank(), described(world),
        summed(torch, dist, world.get_group("w")), failing(lambda: mesh.from_group([], "cpu")),
        failing(lambda: mesh.from_group(dist.group.WORLD, "cpu", [5])),
    ]  # fmt: skip


@program
def an_optimizer_whose_state_is_spread(torch, dist, rank, size):
    zero = submodule(torch, "distributed.optim").ZeroRedundancyOptimizer
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3), nn.Linear(3, 2))
    parallel = nn.parallel.DistributedDataParallel(model)
    optimizer = zero(model[:3].parameters(), torch.optim.Adam, lr=0.05)
    optimizer.add_param_group({"params": model[3].parameters(), "lr": 0.01})
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    losses = []

    def steps(count):
        for step in range(count):
            x = torch.sin(torch.arange(30.0).reshape(6, 5) * (rank + 1) + step)
            optimizer.zero_grad()
            loss = parallel(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss)

    steps(4)
    early = failing(optimizer.state_dict)
    optimizer.consolidate_state_dict(to=1)
    state = optimizer.state_dict() if rank == 1 else failing(optimizer.state_dict)
    held = [state if rank == 1 else None]
    dist.broadcast_object_list(held, 1)
    optimizer.load_state_dict(copy.deepcopy(held[0]))
    steps(2)
    return [losses, model.state_dict(), early, state, optimizer.param_groups[0]["lr"]]


@program
def uneven_batches_with_a_spread_optimizer(torch, dist, rank, size):
    zero = submodule(torch, "distributed.optim").ZeroRedundancyOptimizer
    join = submodule(torch, "distributed.algorithms.join").Join
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = zero(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.5)
    losses = []
    with join([parallel, optimizer]):
        for step in range(2 + rank):
            optimizer.zero_grad()
            loss = parallel(torch.ones(2, 4) * (rank + step)).pow(2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss)
    return [losses, model.state_dict()]
