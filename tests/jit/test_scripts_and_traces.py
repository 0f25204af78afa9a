"""`torch.jit`: scripted and traced programs run as the Python that they are."""

import copy
import io
import pickle
from pathlib import Path

import pytest

import rushlight as torch
from rushlight import jit, nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x).relu() if x.sum() > 0 else self.fc(-x)

    @jit.export
    def doubled(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * self(x)

    @jit.ignore
    def three(self) -> int:
        return 3


def test_a_scripted_module_shares_the_parameters_of_the_module() -> None:
    net = Net()
    scripted = jit.script(net)
    assert isinstance(scripted, jit.ScriptModule)
    assert scripted.fc.weight is net.fc.weight
    x = torch.ones(1, 2)
    scripted(x).sum().backward()
    assert net.fc.weight.grad is not None
    assert torch.equal(scripted.doubled(x), 2 * net(x))
    assert scripted.three() == 3


def test_a_scripted_module_shows_the_names_of_its_classes() -> None:
    scripted = jit.script(Net())
    assert str(scripted) == (
        "RecursiveScriptModule(\n  original_name=Net\n"
        "  (fc): RecursiveScriptModule(original_name=Linear)\n)"
    )
    assert list(scripted.state_dict()) == ["fc.weight", "fc.bias"]


def test_scripting_twice_changes_nothing() -> None:
    scripted = jit.script(Net())
    assert jit.script(scripted) is scripted
    twice = jit.script(jit.script(lambda x: x + 1))
    assert twice(torch.ones(1)).item() == 2


def test_a_traced_module_still_takes_the_branch_that_a_value_asks_for() -> None:
    net = Net()
    traced = jit.trace(net, torch.ones(1, 2))
    x = -torch.ones(1, 2)
    assert torch.equal(traced(x), net(x))


def test_only_the_trace_itself_is_tracing() -> None:
    seen = []

    def function(x: torch.Tensor) -> torch.Tensor:
        seen.append(jit.is_tracing())
        return x

    traced = jit.trace(function, torch.ones(1))
    traced(torch.ones(1))
    assert seen == [True, False]
    assert torch._C._get_tracing_state() is None
    assert not jit.is_scripting()


def test_a_scripted_method_of_a_class_gets_its_instance() -> None:
    class Holder:
        @jit.script
        def add(self, x: int) -> int:
            return x + 1

    assert Holder().add(2) == 3


def test_a_copy_of_a_scripted_module_has_parameters_of_its_own() -> None:
    scripted = jit.script(Net())
    twin = copy.deepcopy(scripted)
    assert type(twin) is type(scripted)
    assert torch.equal(twin.fc.weight, scripted.fc.weight)
    assert twin.fc.weight is not scripted.fc.weight


def test_saved_modules_come_back(tmp_path: Path) -> None:
    layers = jit.script(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    x = torch.randn(4, 2)
    jit.save(layers, tmp_path / "net.pt", _extra_files={"note": "kept"})
    extra = {"note": ""}
    loaded = jit.load(str(tmp_path / "net.pt"), _extra_files=extra)
    assert isinstance(loaded, jit.ScriptModule)
    assert torch.equal(loaded(x), layers(x))
    assert extra == {"note": b"kept"}
    buffer = io.BytesIO(layers.save_to_buffer())
    assert torch.equal(jit.load(buffer)(x), layers(x))
    assert pickle.loads(pickle.dumps(layers)).original_name == "Sequential"


def test_what_is_no_script_is_neither_saved_nor_loaded(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="expected a module or function of"):
        jit.save(Net(), tmp_path / "net.pt")
    with pytest.raises(ValueError, match="does not exist"):
        jit.load(str(tmp_path / "absent.pt"))
    torch.save({"a": 1}, tmp_path / "other.pt")
    with pytest.raises(RuntimeError, match=r"was not written by torch\.jit\.save"):
        jit.load(str(tmp_path / "other.pt"))


def test_a_graph_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="needs a TorchScript graph") as caught:
        _ = jit.script(Net()).graph
    (note,) = caught.value.__notes__
    assert "call the function or module itself" in note
    assert f"{Path(__file__).name}:" in note


def test_freezing_asks_for_a_script_in_evaluation() -> None:
    scripted = jit.script(Net())
    with pytest.raises(RuntimeError, match=r"Please call \.eval"):
        jit.freeze(scripted.train())
    assert jit.freeze(scripted.eval()) is scripted


def test_types_of_containers_are_looked_into() -> None:
    assert jit.isinstance([1, 2], list[int])
    assert not jit.isinstance([1, "a"], list[int])
    assert jit.isinstance({"a": torch.ones(1)}, dict[str, torch.Tensor])
    assert jit.isinstance(None, int | None)
    assert not jit.isinstance((1, 2), tuple[int, str])


def test_forked_work_is_waited_for() -> None:
    future = jit.fork(lambda x: x + 1, torch.ones(1))
    assert jit.wait(future).item() == 2
    assert future.then(lambda done: done.value() * 2).wait().item() == 4
    with pytest.raises(RuntimeError, match="marked completed once"):
        future.set_result(3)


def test_a_check_by_function_raises_with_its_message() -> None:
    assert torch._assert(torch.tensor(True), "fine") is None
    with pytest.raises(AssertionError, match="need more"):
        torch._assert(0, "need more")


def test_programs_may_name_the_graph_that_is_never_made() -> None:
    assert not isinstance(torch.ones(1), torch._C.Graph | torch._C.Value)
    with pytest.raises(RuntimeError, match="needs a TorchScript graph"):
        torch.jit._get_trace_graph(torch.nn.Linear(1, 1), torch.ones(1))


def test_a_trace_says_which_module_it_was_made_of() -> None:
    inner = torch.nn.Linear(2, 1)
    made = torch.jit.trace(torch.nn.Sequential(inner), torch.ones(1, 2))
    assert type(made).__name__ == "TopLevelTracedModule" and type(made[0]).__name__ == (
        "TracedModule"
    )
    assert isinstance(made, torch.jit.TracedModule) and isinstance(made, torch.jit.ScriptModule)
    assert not isinstance(made, torch.jit.RecursiveScriptModule)
    assert not isinstance(torch.jit.script(inner), torch.jit.TracedModule)
    assert repr(made) == (
        "Sequential(\n  original_name=Sequential\n  (0): Linear(original_name=Linear)\n)"
    )
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made) and type(again[0]) is type(made[0])
    assert torch.jit.trace(made, torch.ones(1, 2)) is made
