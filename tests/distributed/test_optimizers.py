"""`torch.distributed`'s optimizers and names of several processes, in one."""

import pytest

import rushlight as torch
from rushlight import distributed as dist
from rushlight.distributed.elastic.multiprocessing.errors import record
from rushlight.distributed.optim import ZeroRedundancyOptimizer
from rushlight.distributed.tensor.experimental import implicit_replication


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_an_optimizer_without_a_group_is_refused():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        ZeroRedundancyOptimizer([torch.zeros(2)], torch.optim.SGD, lr=0.1)


def test_it_steps_as_the_optimizer_inside_does(group):
    values = []
    for make in (
        lambda p: torch.optim.Adam(p, lr=0.1),
        lambda p: ZeroRedundancyOptimizer(p, torch.optim.Adam, lr=0.1),
    ):
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = make([weight])
        for _ in range(3):
            optimizer.zero_grad()
            (weight**2).sum().backward()
            optimizer.step()
        values.append(weight.tolist())
    assert values[0] == values[1]


def test_its_state_is_told_after_it_was_gathered(group):
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = ZeroRedundancyOptimizer([weight], torch.optim.SGD, lr=0.1, momentum=0.9)
    weight.sum().backward()
    optimizer.step()
    with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
        optimizer.state_dict()
    optimizer.consolidate_state_dict()
    assert optimizer.state_dict()["state"][0]["momentum_buffer"].tolist() == [1.0] * 3


def test_a_schedule_reaches_the_optimizer_inside(group):
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = ZeroRedundancyOptimizer([weight], torch.optim.SGD, lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    for expected in (0.0, -0.5):
        weight.grad = torch.ones(1)
        optimizer.step()
        schedule.step()
        assert weight.item() == expected


def test_parameters_of_several_types_are_refused(group):
    with pytest.raises(ValueError, match="same dense type for all parameters"):
        ZeroRedundancyOptimizer([torch.zeros(1), torch.zeros(1).double()], torch.optim.SGD)
    with pytest.raises(ValueError, match="empty parameter list"):
        ZeroRedundancyOptimizer([], torch.optim.SGD)


def test_recorded_errors_are_written_where_torchrun_looks(tmp_path, monkeypatch):
    path = tmp_path / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))

    @record
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails()
    assert "ValueError: no" in path.read_text()


def test_names_of_several_processes_can_be_imported():
    assert not dist.autograd.is_available()
    with pytest.raises(RuntimeError, match="other processes"):
        dist.autograd.context()
    with implicit_replication():
        assert not isinstance(torch.nn.Linear(1, 1), dist.fsdp.FSDPModule)
