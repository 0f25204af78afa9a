"""Programs of several processes: checkpoints that all write, and fewer or others read."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib
import tempfile

from programs import program


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
