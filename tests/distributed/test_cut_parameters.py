"""Optimizers update what a rank has of a parameter as they update a whole one."""

import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch
import rushlight.distributed as dist
from rushlight.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from rushlight.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    store = dist.FileStore(tempfile.mktemp(), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield dist.init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("SGD", {}),
    ("Adam", {}), ("AdamW", {"amsgrad": True}), ("Adam", {"foreach": True, "maximize": True}),
    ("Adagrad", {}), ("RMSprop", {"centered": True, "momentum": 0.5}), ("Adadelta", {}),
    ("Adamax", {}), ("NAdam", {}), ("RAdam", {}), ("ASGD", {}), ("Rprop", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_cut_parameters_are_updated_as_whole_ones(
    mesh: Any, name: str, options: dict[str, Any], dtype: Any
) -> None:
    placements: list[Any] = [[Shard(0)], [Replicate()]]
    start = [torch.cos(torch.arange(12.0)).reshape(4, 3).to(dtype) + k for k in range(2)]
    plain = [torch.nn.Parameter(x.clone()) for x in start]
    cut = [torch.nn.Parameter(distribute_tensor(x.clone(), mesh, lie))
           for x, lie in zip(start, placements)]  # fmt: skip
    ours, theirs = (getattr(torch.optim, name)(ps, lr=0.02, **options) for ps in (cut, plain))
    for _ in range(3):
        before = [p._version for p in cut]
        for optimizer, params in ((ours, cut), (theirs, plain)):
            for k, p in enumerate(params):
                grad = torch.sin(torch.arange(12.0).reshape(4, 3) * (k + 1)).to(dtype)
                p.grad = distribute_tensor(grad, mesh, placements[k]) if params is cut else grad
            optimizer.step()
        assert all(p._version > old for p, old in zip(cut, before))
    for a, b in zip(cut, plain):
        torch.testing.assert_close(a.full_tensor(), b, rtol=1e-5, atol=1e-6)
        for key, value in theirs.state[b].items():
            mine = ours.state[a][key]
            if isinstance(value, torch.Tensor) and value.ndim:
                assert isinstance(mine, DTensor) and mine.placements == a.placements
                torch.testing.assert_close(mine.full_tensor(), value, rtol=1e-5, atol=1e-6)
            elif isinstance(value, torch.Tensor):
                torch.testing.assert_close(mine, value)


class Counting(TorchDispatchMode):
    """Counts operations."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def test_the_second_step_runs_on_the_pieces_and_one_with_a_sum_to_come_does_not(mesh: Any) -> None:
    p = torch.nn.Parameter(distribute_tensor(torch.ones(4, 3), mesh, [Replicate()]))
    optimizer = torch.optim.Adam([p], lr=0.1)
    counts = []
    for lie in (Replicate(), Replicate(), Partial(), Replicate()):
        p.grad = DTensor.from_local(torch.full((4, 3), 0.5), mesh, [lie])
        with Counting() as counting:
            optimizer.step()
        counts.append(counting.count)
    assert counts[1] == counts[3] == 0 and counts[2] > 5, counts
    whole = torch.nn.Parameter(torch.ones(4, 3))
    other = torch.optim.Adam([whole], lr=0.1)
    for _ in range(4):
        whole.grad = torch.full((4, 3), 0.5)
        other.step()
    torch.testing.assert_close(p.full_tensor(), whole)
    assert optimizer.state[p]["step"].item() == 4
