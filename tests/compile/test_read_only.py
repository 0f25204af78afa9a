"""Memory that may only be read: a compiled step refuses to write it, as an eager one does."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore:The given buffer is not writable")

WRITES: dict[str, Callable[[Any], Any]] = {
    "add_": lambda x: x.add_(1),
    "mul_ by itself": lambda x: x.mul_(x),
    "relu_": lambda x: x.relu_(),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(2.0),
    "copy_": lambda x: x.copy_(torch.ones(6, 4)),
    "clamp_": lambda x: x.clamp_(0, 1),
    "lerp_": lambda x: x.lerp_(torch.ones(6, 4), 0.5),
    "addcmul_": lambda x: x.addcmul_(torch.ones(6, 4), torch.ones(6, 4)),
    "masked_fill_": lambda x: x.masked_fill_(x > 0, 0.5),
    "index_add_": lambda x: x.index_add_(0, torch.tensor([0, 1]), torch.ones(2, 4)),
    "scatter_": lambda x: x.scatter_(0, torch.zeros(1, 4, dtype=torch.int64), 3.0),
    "a row": lambda x: x.__setitem__(0, 7.0),
    "a column": lambda x: x.__setitem__((slice(None), 1), x[:, 0]),
    "a view": lambda x: x.view(-1)[::2].mul_(0.5),
    "a turned view": lambda x: x.t().add_(1),
    "a gathered place": lambda x: x.__setitem__(torch.tensor([0, 2]), 1.0),
    "normal_": lambda x: x.normal_(),
    "dropout in place": lambda x: F.dropout(x, 0.5, inplace=True),
    "running mean": lambda x: F.batch_norm(torch.ones(3, 4), x[0], x[1] * 0 + 1, training=True),
    "after arithmetic": lambda x: x.sub_((x * 2).tanh().sum()),
}  # fmt: skip


def of_array(writable: bool) -> Any:
    array = np.arange(24, dtype=np.float32).reshape(6, 4) / 8 - 1
    array.flags.writeable = writable
    return torch.from_numpy(array)


def of_map(writable: bool) -> Any:
    room = mmap.mmap(-1, 96)
    room[:] = (np.arange(24, dtype=np.float32) / 8 - 1).tobytes()
    array = np.frombuffer(room, np.float32).reshape(6, 4)
    array.flags.writeable = writable
    return torch.from_numpy(array)


def outcome(step: Any, *args: Any) -> Any:
    try:
        step(*args)
    except (ValueError, RuntimeError) as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("make", [of_array, of_map])
@pytest.mark.parametrize("name", WRITES)
def test_an_argument_that_may_not_be_written_raises_as_in_an_eager_step(
    name: str, make: Any, native: bool
) -> None:
    write = WRITES[name]

    def step(x: Any) -> Any:
        before = x.sum()
        write(x)
        return before

    compiled = torch.compile(step, options={"native": native})
    for _ in range(6):
        compiled(make(True))
    assert compiled.program is not None, compiled.explain()
    for _ in range(2):
        x, y = make(False), make(False)
        assert outcome(compiled, x) == outcome(step, y) is not None
        assert x.tolist() == y.tolist()
    x, y = make(True), make(True)
    torch.manual_seed(0)
    first = compiled(x), x.tolist()
    torch.manual_seed(0)
    assert (step(y), y.tolist()) == first


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("kind", ["parameter", "state", "gradient", "kept tensor"])
def test_a_flag_that_changes_under_a_warm_step_is_seen(kind: str, native: bool) -> None:
    arrays = [np.full((4, 4), 0.5, np.float32) for _ in range(2)]
    seen = []
    for array, compiled in zip(arrays, (False, True)):
        torch.manual_seed(0)
        model = nn.Linear(4, 4)
        kept = torch.ones(4, 4)
        rule = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        model.weight.grad = torch.zeros(4, 4)

        def step(x: Any, model: Any = model, rule: Any = rule, kept: Any = kept) -> Any:
            loss = model(x).square().mean()
            loss.backward()
            rule.step()
            kept.add_(1)
            return loss.detach()

        if kind == "parameter":
            model.weight = nn.Parameter(torch.from_numpy(array))
            rule.param_groups[0]["params"][0] = model.weight
        elif kind == "kept tensor":
            kept.data = torch.from_numpy(array)
        elif kind == "gradient":
            model.weight.grad = torch.from_numpy(array)
        run = torch.compile(step, options={"native": native}) if compiled else step
        run(torch.ones(2, 4))
        if kind == "state":
            rule.state[model.weight]["momentum_buffer"] = torch.from_numpy(array)
        for _ in range(6):
            run(torch.ones(2, 4))
        if compiled:
            assert run.program is not None, run.explain()
        array.flags.writeable = False
        seen.append(outcome(run, torch.ones(2, 4)))
        array.flags.writeable = True
    assert seen[0] == seen[1] is not None
    assert arrays[0] == pytest.approx(arrays[1], abs=1e-4)


@pytest.mark.parametrize("write", [
    lambda x: x.normal_(), lambda x: x.uniform_(), lambda x: x.as_strided((2,), (1,)).add_(1),
    lambda x: x.fill_diagonal_(1), lambda x: nn.init.xavier_uniform_(x),
])  # fmt: skip
def test_an_eager_write_that_may_not_be_raises(write: Any) -> None:
    for kind in (np.float32, np.float64):
        array = np.linspace(0, 1, 24, dtype=kind).reshape(6, 4)
        array.flags.writeable = False
        for _ in range(3):
            with pytest.raises(ValueError, match="read-only"):
                write(torch.from_numpy(array))
        assert array.ravel().tolist() == np.linspace(0, 1, 24, dtype=kind).tolist()
