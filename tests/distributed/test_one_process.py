"""`torch.distributed` with one process: what it tells the group, it hears itself."""

import copy
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

import rushlight as torch
import rushlight.distributed as dist
from rushlight import nn
from rushlight.distributed import run
from rushlight.distributed.gradient_reduction import GradientReduction
from rushlight.nn.parallel import DistributedDataParallel
from rushlight.utils.data import DistributedSampler


@pytest.fixture
def group() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def test_before_a_group_is_made_its_questions_are_errors() -> None:
    assert dist.is_available()
    assert not dist.is_initialized()
    for ask in (dist.get_rank, dist.get_world_size, dist.barrier):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            ask()


def test_the_environment_tells_rank_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
        dist.init_process_group("gloo")
    for key in ("MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(key, "0")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    dist.init_process_group("gloo")
    try:
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group("gloo")
    finally:
        dist.destroy_process_group()


@pytest.mark.skipif(find_spec("mpi4py") is not None, reason="mpi4py is installed")
def test_without_mpi_more_processes_are_an_error_that_names_the_extra() -> None:
    with pytest.raises(dist.DistBackendError, match="needs MPI, which isn't here") as caught:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=2)
    assert "rushlight[mpi]" in caught.value.__notes__[0]


def test_gpus_are_refused_as_pytorch_refuses_them() -> None:
    with pytest.raises(RuntimeError, match="doesn't have NCCL built in"):
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)


def test_sums_are_the_tensor_itself(group: None) -> None:
    x = torch.arange(3.0)
    work = dist.all_reduce(x, op=dist.ReduceOp.AVG, async_op=True)
    assert work is not None and work.wait()
    assert dist.all_reduce(x) is None
    assert x.tolist() == [0, 1, 2]


def test_gathered_tensors_are_copies_of_the_one(group: None) -> None:
    x, places = torch.arange(3.0), [torch.zeros(3)]
    dist.all_gather(places, x)
    assert places[0].tolist() == [0, 1, 2]
    out = torch.zeros(3)
    dist.reduce_scatter(out, [x * 2])
    assert out.tolist() == [0, 2, 4]
    dist.scatter(out, [x * 3], src=0)
    assert out.tolist() == [0, 3, 6]
    with pytest.raises(RuntimeError, match=r"expected \(3\), got \(2\)"):
        dist.all_gather([torch.zeros(2)], x)
    with pytest.raises(RuntimeError, match="invalid root rank: 1"):
        dist.broadcast(x, src=1)


def test_objects_are_passed(group: None) -> None:
    places: list[object] = [None]
    dist.all_gather_object(places, {"a": 1})
    assert places == [{"a": 1}]
    with pytest.raises(ValueError, match="should not be the same as the rank"):
        dist.send(torch.ones(1), 0)


def test_a_parallel_module_trains_as_the_module(group: None) -> None:
    module = nn.Linear(2, 1)
    parallel = DistributedDataParallel(module)
    parallel(torch.ones(3, 2)).sum().backward()
    assert module.weight.grad is not None
    assert module.weight.grad.tolist() == [[3.0, 3.0]]
    assert list(parallel.state_dict()) == ["module.weight", "module.bias"]
    with parallel.no_sync():
        assert not parallel.require_backward_grad_sync
    assert parallel.require_backward_grad_sync
    with pytest.raises(RuntimeError, match="doesn't have any parameter"):
        DistributedDataParallel(nn.ReLU())


def test_a_sampler_asks_the_group(group: None) -> None:
    assert list(DistributedSampler(range(5), shuffle=False)) == [0, 1, 2, 3, 4]


def test_a_backward_adds_up_whose_forward_was_told_not_to(group: None) -> None:
    module = nn.Linear(2, 1)
    own = dist.distributed_c10d._get_default_group()
    reduction = GradientReduction(
        dict(module.named_parameters()), own, 25.0, as_views=True, sparse=set()
    )
    out = module(torch.ones(3, 2)).sum()
    reduction.enabled = False
    out.backward(retain_graph=True)
    before = module.weight.grad
    assert before is not None
    reduction.prepare_for_backward([])
    out.backward()
    after = module.weight.grad
    assert after is not None
    assert after.tolist() == [[6.0, 6.0]]
    assert after.data_ptr() != before.data_ptr()  # it lies in the bucket


def test_a_program_that_fills_in_the_launchers_options_may_say_the_port_as_a_text() -> None:
    args = run.parse_args(["--nproc-per-node", "2", "train.py"])
    args.master_port = "29501"
    assert run.plan_of(args).port == 29501


def test_a_module_in_data_parallel_is_joinable() -> None:
    kinds = DistributedDataParallel, dist.optim.ZeroRedundancyOptimizer
    assert all(issubclass(kind, dist.algorithms.Joinable) for kind in kinds)


def test_a_policy_of_a_programs_own_chooses_parts_and_their_options(group: None) -> None:
    fsdp = dist.fsdp

    def choose(module: nn.Module) -> bool | dict[str, object]:
        if isinstance(module, nn.ReLU):
            return False
        return {"use_orig_params": True} if module.weight.shape[0] == 1 else True

    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    made = fsdp.FullyShardedDataParallel(model, auto_wrap_policy=fsdp.wrap.CustomPolicy(choose))
    first, second, third = made.module
    assert isinstance(first, fsdp.FullyShardedDataParallel) and isinstance(second, nn.ReLU)
    assert isinstance(third, fsdp.FullyShardedDataParallel)
    assert [len(list(part.parameters())) for part in (first, third)] == [1, 2]
    wrong = fsdp.wrap.CustomPolicy(lambda module: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="False/True or a kwarg dict, but it returned 3"):
        fsdp.FullyShardedDataParallel(nn.Sequential(nn.ReLU()), auto_wrap_policy=wrong)


def test_a_module_whose_parameters_are_in_a_row_still_tells_their_shapes(group: None) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2), nn.Conv1d(1, 1, 1, bias=False))
    shown = str(model)
    made = dist.fsdp.FullyShardedDataParallel(model)
    for _ in range(2):
        assert str(made.module) == shown
        assert model[0].weight.shape == (2, 3) and model[0].weight.is_meta
        assert [name for name, _ in made.module.named_parameters()] == ["_flat_param"]
        assert "bias=True" in str(copy.deepcopy(model))
        made(torch.ones(1, 3)[:, None].expand(1, 1, 3)).sum().backward()
        with dist.fsdp.FullyShardedDataParallel.summon_full_params(made):
            assert isinstance(model[0].weight, nn.Parameter)
            assert str(made.module) == shown
