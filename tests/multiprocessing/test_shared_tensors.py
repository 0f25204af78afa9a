"""Tensors between processes: both see the same memory."""

import sys
from multiprocessing.reduction import ForkingPickler

import pytest

import rushlight as torch
import rushlight.multiprocessing as mp
from rushlight import nn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no file can be sent on Windows")


def train(net: nn.Module, done) -> None:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    done.set()


def fail(index: int) -> None:
    if index == 1:
        raise ValueError("no luck")


def leave(index: int) -> None:
    sys.exit(3)


def add(index: int, shared: torch.Tensor) -> None:
    shared[index] += 1


def test_shared_memory_keeps_values_strides_and_identity() -> None:
    t = torch.arange(6.0).reshape(2, 3).t().clone(memory_format=torch.preserve_format)
    strides = t.stride()
    assert not t.is_shared()
    assert t.share_memory_() is t
    assert t.is_shared() and t[1:].is_shared() and t.detach().is_shared()
    assert t.stride() == strides
    assert t.tolist() == [[0, 3], [1, 4], [2, 5]]
    half = torch.ones(2, dtype=torch.float16).share_memory_()
    assert half.is_shared() and half.dtype is torch.float16


def test_a_process_writes_where_this_one_reads() -> None:
    shared = torch.zeros(2).share_memory_()
    mp.start_processes(add, args=(shared,), nprocs=2, start_method="fork")
    assert shared.tolist() == [1, 1]


def test_a_spawned_process_trains_the_same_parameters() -> None:
    net = nn.Linear(2, 1)
    net.share_memory()
    before = net.weight.detach().clone()
    context = mp.get_context("spawn")
    done = context.Event()
    process = context.Process(target=train, args=(net, done))
    process.start()
    process.join(60)
    assert process.exitcode == 0 and done.is_set()
    assert torch.equal(net.weight.detach(), before - 0.5)


def test_a_tensor_in_a_queue_is_not_copied() -> None:
    context = mp.get_context("fork")
    queue = context.Queue()
    sent = torch.zeros(3)
    queue.put(sent)
    received = queue.get(timeout=30)
    received[1] = 5
    assert sent.tolist() == [0, 5, 0]
    assert received.is_shared() and sent.is_shared()


def test_a_tensor_with_a_history_stays() -> None:
    t = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        ForkingPickler.dumps(t)


def test_the_error_of_a_process_comes_back_with_its_traceback() -> None:
    with pytest.raises(mp.ProcessRaisedException, match="ValueError: no luck") as caught:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    assert caught.value.error_index == 1
    with pytest.raises(mp.ProcessExitedException, match="exit code 3") as left:
        mp.start_processes(leave, nprocs=1, start_method="fork")
    assert left.value.exit_code == 3


def test_strategies_are_noted() -> None:
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(AssertionError, match="invalid sharing strategy"):
        mp.set_sharing_strategy("pigeons")
