"""`nn.Module`: what it registers, how it is called, and what becomes of a whole tree."""

import copy
import gc
import pickle
import warnings
from typing import Any

import pytest

import rushlight as rl
from rushlight import nn


class Net(nn.Module):
    """Two layers that are one, a parameter, and two buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.again = self.first
        self.scale = nn.Parameter(rl.ones(2))
        self.register_buffer("seen", rl.zeros(1))
        self.register_buffer("scratch", rl.zeros(1), persistent=False)

    def forward(self, x: rl.Tensor) -> rl.Tensor:
        return self.again(self.first(x)) * self.scale  # type: ignore[no-any-return]


def test_shared_modules_are_listed_once() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 5
    assert [name for name, _ in net.named_modules(prefix="p")] == ["p", "p.first"]


def test_a_state_dict_holds_both_names_of_a_shared_module_and_no_scratch() -> None:
    keys = ["scale", "seen", "first.weight", "first.bias", "again.weight", "again.bias"]
    assert list(Net().state_dict()) == keys


def test_assigning_moves_a_name_between_the_tables() -> None:
    net = Net()
    net.first = None
    assert [name for name, _ in net.named_children()] == ["again"]
    with pytest.raises(TypeError, match=r"cannot assign 'torch.FloatTensor' as parameter 'scale'"):
        net.scale = rl.ones(2)
    del net.scale
    net.scale = rl.ones(2)
    assert "scale" in vars(net)


def test_a_module_takes_the_place_of_a_buffer_but_not_of_a_parameter() -> None:
    module = nn.Module()
    module.scale = nn.Parameter(rl.ones(1))
    module.register_parameter("unset", None)
    module.register_buffer("table", rl.ones(1))
    for name in ("scale", "unset"):
        with pytest.raises(TypeError, match=rf"ReLU' as parameter '{name}' \(torch.nn.Parameter"):
            setattr(module, name, nn.ReLU())
    module.table = nn.ReLU()
    assert list(module._modules) == ["table"] and not module._buffers


def test_assigning_before_init_says_so() -> None:
    class Hasty(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Hasty()


def test_a_missing_attribute_is_named() -> None:
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nope'"):
        Net().nope  # noqa: B018


def test_text_shows_the_tree() -> None:
    line = "Linear(in_features=2, out_features=2, bias=True)"
    assert repr(Net()) == f"Net(\n  (first): {line}\n  (again): {line}\n)"
    assert repr(nn.Module()) == "Module()"


def test_train_and_eval_reach_every_module() -> None:
    net = Net().eval()
    assert not any(module.training for module in net.modules())
    assert net.train().first.training
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train(3)  # type: ignore[arg-type]


def test_casts_keep_the_parameter_objects() -> None:
    net = Net()
    before = net.scale
    net.double()
    assert net.scale is before
    assert before.dtype == rl.float64 and net.seen.dtype == rl.float64
    assert net.to(rl.float32).scale.dtype == rl.float32
    with pytest.raises(TypeError, match="only accepts floating point or complex"):
        net.to(rl.int64)


def test_zero_grad_drops_or_zeroes() -> None:
    net = Net()
    net(rl.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.tolist() == [0.0, 0.0]
    net.zero_grad()
    assert net.scale.grad is None


def test_copies_and_pickles_keep_what_is_shared() -> None:
    layer = pickle.loads(pickle.dumps(nn.Linear(2, 2)))
    assert layer(rl.ones(1, 2)).shape == (1, 2)
    twin = copy.deepcopy(Net())
    assert twin.first is twin.again


def test_loading_copies_into_the_same_parameters() -> None:
    net, other = Net(), Net()
    weight = net.first.weight
    result = net.load_state_dict(other.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert net.first.weight is weight
    assert weight.tolist() == other.first.weight.tolist()


def test_loading_lists_every_problem() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(RuntimeError) as caught:
        layer.load_state_dict({"weight": rl.ones(3, 2), "c": rl.ones(1)})
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Linear:\n"
        '\tMissing key(s) in state_dict: "bias". \n'
        '\tUnexpected key(s) in state_dict: "c". \n'
        "\tsize mismatch for weight: copying a param with shape torch.Size([3, 2]) from "
        "checkpoint, the shape in current model is torch.Size([2, 2])."
    )
    keys = layer.load_state_dict({"c": rl.ones(1)}, strict=False)
    assert keys.missing_keys == ["weight", "bias"] and keys.unexpected_keys == ["c"]


def test_assign_takes_the_given_tensors() -> None:
    layer = nn.Linear(1, 1)
    weight = rl.ones(1, 1)
    layer.load_state_dict({"weight": weight, "bias": rl.zeros(1)}, assign=True)
    weight.fill_(7)
    assert layer.weight.item() == 7.0 and layer.weight.requires_grad


def test_extra_state_travels_along() -> None:
    class Counter(nn.Module):
        count = 0

        def get_extra_state(self) -> int:
            return self.count

        def set_extra_state(self, state: Any) -> None:
            self.count = state

    counter = Counter()
    counter.count = 4
    assert counter.state_dict() == {"_extra_state": 4}
    other = Counter()
    other.load_state_dict(counter.state_dict())
    assert other.count == 4


def test_forward_hooks_see_and_replace_values() -> None:
    layer = nn.Identity()
    layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    handle = layer.register_forward_hook(lambda module, args, output: output * 10)
    assert layer(rl.tensor(1.0)).item() == 20.0
    handle.remove()
    assert layer(rl.tensor(1.0)).item() == 2.0


def test_hooks_run_in_order_and_prepended_ones_first() -> None:
    seen: list[int] = []
    layer = nn.Identity()
    layer.register_forward_hook(lambda *a: seen.append(1))
    layer.register_forward_hook(lambda *a: seen.append(0), prepend=True)
    layer(rl.tensor(1.0))
    assert seen == [0, 1]


def test_an_always_called_hook_runs_after_an_error() -> None:
    class Broken(nn.Module):
        def forward(self, x: rl.Tensor) -> rl.Tensor:
            raise ValueError("broken")

    seen: list[Any] = []
    module = Broken()
    module.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="broken"):
        module(rl.tensor(1.0))
    assert seen == [None]


def test_full_backward_hooks_see_all_gradients_and_may_change_them() -> None:
    seen: list[Any] = []

    def hook(module: nn.Module, grad_in: Any, grad_out: Any) -> Any:
        seen.append((grad_in[0].tolist(), grad_out[0].tolist()))
        return (grad_in[0] * 10,)

    layer = nn.Identity()
    layer.register_full_backward_hook(hook)
    x = rl.tensor([1.0, 2.0], requires_grad=True)
    (layer(x) * 3).sum().backward()
    assert seen == [([3.0, 3.0], [3.0, 3.0])]
    assert x.grad.tolist() == [30.0, 30.0]


def test_backward_pre_hooks_change_what_flows_in() -> None:
    layer = nn.Identity()
    layer.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
    x = rl.tensor([1.0], requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_full_and_older_backward_hooks_exclude_each_other() -> None:
    layer = nn.Identity()
    layer.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks"):
        layer.register_backward_hook(lambda *a: None)


def test_global_hooks_run_for_every_module_until_removed() -> None:
    from rushlight.nn.modules.module import register_module_forward_hook

    seen: list[str] = []
    with register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__)):
        nn.Sequential(nn.Identity(), nn.Tanh())(rl.tensor(1.0))
    nn.Identity()(rl.tensor(1.0))
    assert seen == ["Identity", "Tanh", "Sequential"]


def test_a_module_without_forward_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"Module \[Module\] is missing"):
        nn.Module()(1)


def test_positional_arguments_of_state_dict_are_deprecated() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(nn.Linear(1, 1).state_dict({}, "p.", True)) == ["p.weight", "p.bias"]
    assert issubclass(caught[0].category, FutureWarning)


def test_loading_a_state_leaves_no_cycle() -> None:
    layer = nn.Linear(2, 2)
    state = copy.deepcopy(layer).state_dict()
    gc.collect()
    layer.load_state_dict(state)
    assert gc.collect() == 0
