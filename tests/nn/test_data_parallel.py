"""`DataParallel`: chunks of a batch through replicas in threads."""

import contextvars
import threading
from typing import Any

import pytest

import rushlight as rl
from rushlight import nn


def test_without_devices_the_module_is_called_as_it_is() -> None:
    layer = nn.Linear(2, 2)
    parallel = nn.DataParallel(layer)
    assert list(parallel.state_dict()) == ["module.weight", "module.bias"]
    x = rl.ones(3, 2)
    assert parallel(x).tolist() == layer(x).tolist()


def test_replicas_give_the_same_outputs_and_sum_their_gradients() -> None:
    layer = nn.Linear(3, 2)
    x = rl.arange(15.0).reshape(5, 3)
    layer(x).pow(2).sum().backward()
    alone, layer.weight.grad = layer.weight.grad, None
    outputs = nn.DataParallel(layer, device_ids=[0, 1, 2])(x)
    assert outputs.flatten().tolist() == pytest.approx(layer(x).flatten().tolist())
    outputs.pow(2).sum().backward()
    expected = alone.flatten().tolist()
    assert layer.weight.grad.flatten().tolist() == pytest.approx(expected, rel=1e-5)


def test_workers_run_in_threads_with_the_callers_context() -> None:
    place: contextvars.ContextVar[str] = contextvars.ContextVar("place", default="nowhere")
    seen: list[tuple[bool, str, bool]] = []

    class Look(nn.Module):
        def forward(self, x: rl.Tensor) -> rl.Tensor:
            apart = threading.current_thread() is not threading.main_thread()
            seen.append((apart, place.get(), rl.is_grad_enabled()))
            return x

    place.set("here")
    with rl.no_grad():
        nn.DataParallel(Look(), device_ids=[0, 1])(rl.ones(4))
    assert seen == [(True, "here", False)] * 2


def test_an_exception_of_a_worker_is_raised_in_the_caller() -> None:
    class Picky(nn.Module):
        def forward(self, x: rl.Tensor) -> rl.Tensor:
            if x[0].item() > 1:
                raise ValueError("too large")
            return x

    with pytest.raises(ValueError, match="too large"):
        nn.DataParallel(Picky(), device_ids=[0, 1])(rl.tensor([1.0, 2.0]))


def test_containers_are_split_and_gathered() -> None:
    class Pair(nn.Module):
        def forward(self, x: rl.Tensor, extra: Any) -> Any:
            return {"sum": x + extra["y"], "first": (x, x.sum())}

    out = nn.DataParallel(Pair(), device_ids=[0, 1])(rl.arange(4.0), extra={"y": rl.ones(4)})
    assert out["sum"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert out["first"][1].tolist() == [1.0, 5.0]


def test_fewer_rows_than_devices_use_fewer_replicas() -> None:
    assert nn.DataParallel(nn.Identity(), device_ids=[0, 1, 2])(rl.ones(2)).tolist() == [1.0, 1.0]


def test_the_function_needs_no_wrapper() -> None:
    out = nn.parallel.data_parallel(nn.Identity(), rl.arange(3.0), device_ids=[0, 1])
    assert out.tolist() == [0.0, 1.0, 2.0]
