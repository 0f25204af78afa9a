"""Programs of several processes: checkpoints that all write, and fewer or others read."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib
import tempfile
from pathlib import Path

from programs import failing, program


def shared_folder(dist):
    """A folder that all ranks know."""
    held = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(held)
    return held[0]


@program
def checkpoints_of_every_rank(torch, dist, rank, size):
    dcp = importlib.import_module(f"{torch.__name__}.distributed.checkpoint")
    t = importlib.import_module(f"{torch.__name__}.distributed.tensor")
    held = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(held)
    mesh = dist.init_device_mesh("cpu", (size,))
    x = torch.arange(30.0).reshape(6, 5)

    def state(value, dim):
        return {
            "model": {"w": t.distribute_tensor(x * value, mesh, [t.Shard(dim)]), "b": x[0] * value},
            "step": value,
        }

    dcp.save(state(1, 0), checkpoint_id=held[0])
    dcp.save(state(2, 0), checkpoint_id=held[0])
    other = state(0, 1)
    dcp.load(other, checkpoint_id=held[0])
    plain = {"model": {"w": torch.zeros(6, 5)}}
    dcp.load(plain, checkpoint_id=held[0])
    one = dist.new_group([0])
    alone = {"model": {"w": torch.zeros(6, 5)}}
    if rank == 0:
        dcp.load(alone, checkpoint_id=held[0], process_group=one)
    model = torch.nn.Linear(4, 2)
    with torch.no_grad():
        model.weight.fill_(3)
    dcp.save({"m": model.state_dict()}, checkpoint_id=held[0] + "/m")
    loaded = torch.nn.Linear(4, 2).state_dict()
    dcp.load({"m": loaded}, checkpoint_id=held[0] + "/m")
    return [
        other["model"]["w"].to_local(), other["model"]["b"], other["step"], plain, alone,
        loaded["weight"],
    ]  # fmt: skip


class Counter:
    """Has a state of its own."""

    def __init__(self):
        self.count = 0

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


@program
def checkpoints_that_are_written_meanwhile(torch, dist, rank, size):
    dcp = importlib.import_module(f"{torch.__name__}.distributed.checkpoint")
    stateful = importlib.import_module(f"{torch.__name__}.distributed.checkpoint.stateful")
    saver = importlib.import_module(f"{torch.__name__}.distributed.checkpoint.state_dict_saver")
    t = importlib.import_module(f"{torch.__name__}.distributed.tensor")
    mesh = dist.init_device_mesh("cpu", (size,))
    folders = shared_folder(dist), shared_folder(dist)
    whole = torch.arange(12.0).reshape(6, 2)
    cut = t.distribute_tensor(whole, mesh, [t.Shard(0)])
    counter, plain = Counter(), torch.ones(3)
    counter.count = 5
    apart = dist.new_group(list(range(size)))
    saving = []
    for step, folder in enumerate(folders):
        counter.count += step
        state = {"cut": cut, "plain": plain, "step": step, "counter": counter, "in": {"x": [1, 2]}}
        saving.append(dcp.async_save(state, checkpoint_id=folder))
        plain += 1  # of no weight for what is being saved
        cut = cut * 2
        summed = torch.ones(2) * step  # training goes on meanwhile
        dist.all_reduce(summed, group=apart)
        saving[-1].result()
    seen = []
    for folder in folders:
        read = {
            "cut": t.zeros(6, 2, device_mesh=mesh, placements=[t.Shard(1)]), "step": -1,
            "plain": torch.zeros(3), "counter": Counter(), "in": {"x": None},
        }  # fmt: skip
        dcp.load(read, checkpoint_id=folder)
        seen.append([read["cut"].full_tensor(), read["plain"], read["step"],
                     read["counter"].count, read["in"]])  # fmt: skip
    more = {"plain": torch.zeros(3), "new": torch.full((2,), 7.0), "deep": {"er": 4}}
    partly = dcp.DefaultLoadPlanner(allow_partial_load=True)
    dcp.load(more, checkpoint_id=folders[1], planner=partly)
    try:
        dcp.load({"new": torch.ones(1)}, checkpoint_id=folders[1], planner=dcp.DefaultLoadPlanner())
        missing = "read"
    except BaseException:  # a CheckpointException of PyTorch's is no Exception
        missing = "refused"
    dist.barrier()
    return [
        seen, more, missing,
        isinstance(counter, stateful.Stateful), isinstance({}, stateful.Stateful),
        [kind.value for kind in saver.AsyncCheckpointerType], type(saving[0]).__name__,
        failing(lambda: dcp.async_save({}).result())[0],
    ]  # fmt: skip


@program
def checkpoints_as_one_file(torch, dist, rank, size):
    dcp = importlib.import_module(f"{torch.__name__}.distributed.checkpoint")
    form = importlib.import_module(f"{torch.__name__}.distributed.checkpoint.format_utils")
    t = importlib.import_module(f"{torch.__name__}.distributed.tensor")
    mesh = dist.init_device_mesh("cpu", (size,))
    folder = shared_folder(dist)
    whole = torch.arange(14.0).reshape(7, 2)
    state = {"model": {"w": t.distribute_tensor(whole, mesh, [t.Shard(0)]), "b": torch.ones(2)},
             "half": torch.ones(2, dtype=torch.bfloat16), "step": 3}  # fmt: skip
    dcp.save(state, checkpoint_id=folder)
    file, again = Path(folder) / "one.pt", Path(folder) / "again"
    if rank == 0:
        form.dcp_to_torch_save(folder, file)
        form.torch_save_to_dcp(file, again)
    dist.barrier()
    one = torch.load(file)
    read = {"model": {"w": t.zeros(7, 2, device_mesh=mesh, placements=[t.Shard(0)])}, "step": 0}
    dcp.load(read, checkpoint_id=again)
    dist.barrier()
    return [one, read["model"]["w"].full_tensor(), read["step"]]
