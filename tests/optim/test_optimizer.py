"""`Optimizer`: groups, state, hooks."""

import copy
import pickle
from typing import Any

import pytest

import rushlight as rl
from rushlight import nn, optim


def _parameter(count: int = 2) -> nn.Parameter:
    p = nn.Parameter(rl.ones(count))
    p.grad = rl.ones(count)
    return p


def test_its_text_lists_the_options_sorted() -> None:
    lines = ["dampening: 0", "differentiable: False", "foreach: None", "fused: None", "lr: 0.1"]
    lines += ["maximize: False", "momentum: 0", "nesterov: False", "weight_decay: 0"]
    body = "".join(f"    {line}\n" for line in lines)
    assert repr(optim.SGD([_parameter()], lr=0.1)) == f"SGD (\nParameter Group 0\n{body})"


def test_what_cannot_be_optimized_is_refused() -> None:
    w = _parameter()
    with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts"):
        optim.SGD(w)
    with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
        optim.SGD([])
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        optim.SGD([w * 2])
    with pytest.raises(ValueError, match="some parameters appear in more than one"):
        optim.SGD([{"params": w}, {"params": w}])
    with pytest.raises(TypeError, match="organized in ordered collections"):
        optim.SGD({"params": {w}}["params"] and [{"params": {w}}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([w, w])


def test_named_parameters_keep_their_names() -> None:
    optimizer = optim.SGD(nn.Linear(1, 1).named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="should be with/without names"):
        optim.SGD([("a", _parameter()), _parameter()])


def test_groups_have_options_of_their_own() -> None:
    a, b = _parameter(), _parameter()
    optimizer = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    optimizer.step()
    assert a.tolist() == pytest.approx([0.9, 0.9]) and b.tolist() == [0.5, 0.5]


def test_a_state_continues_after_loading() -> None:
    a, b = _parameter(), _parameter()
    first, second = optim.Adam([a]), optim.Adam([b])
    first.step()
    first.step()
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    with rl.no_grad():
        b.copy_(a)
    first.step()
    second.step()
    assert a.tolist() == b.tolist()
    assert second.state[b]["step"].item() == 3.0


def test_loading_checks_the_groups() -> None:
    optimizer = optim.SGD([_parameter()])
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_pickles_and_copies_keep_groups_and_state() -> None:
    optimizer = optim.SGD([_parameter()], lr=0.1, momentum=0.9)
    optimizer.step()
    for twin in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        assert repr(twin) == repr(optimizer)
        twin.step()
        assert len(twin.state) == 1


def test_parameters_without_gradients_stay() -> None:
    w = nn.Parameter(rl.ones(2))
    optimizer = optim.Adam([w])
    optimizer.step()
    assert w.tolist() == [1.0, 1.0] and len(optimizer.state) == 0


def test_a_closure_runs_with_gradients_and_its_loss_comes_back() -> None:
    w = _parameter()
    optimizer = optim.SGD([w], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with rl.no_grad():
        assert optimizer.step(closure).item() == 2.0
    assert w.tolist() == [0.0, 0.0]


def test_step_hooks_run_around_the_step_of_user_classes_too() -> None:
    seen: list[str] = []

    class Mine(optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            seen.append("step")

    optimizer = Mine([_parameter()], {})
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["pre", "step", "post", "pre", "step"]


def test_zero_grad_drops_or_zeroes() -> None:
    w = _parameter()
    optimizer = optim.SGD([w])
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is not None and w.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert w.grad is None
