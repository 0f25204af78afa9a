"""A gradient for each sample: values against one sample at a time, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.utils._expanded_weights import ExpandedWeight
from rushlight.nn.utils._per_sample_grad import call_for_per_sample_grads

F = nn.functional


def one_by_one(module: Any, x: Any, axis: int) -> list[Any]:
    """The gradients of each sample's sum, by parameter."""
    samples = []
    for i in range(x.shape[axis]):
        module.zero_grad()
        out = module(x.narrow(axis, i, 1))
        (out[0] if isinstance(out, tuple) else out).sin().sum().backward()
        samples.append([p.grad.clone() for p in module.parameters()])
    module.zero_grad()
    return [torch.stack(found) for found in zip(*samples)]


@pytest.mark.parametrize("make, shape, axis", [
    (lambda: nn.Linear(3, 2), (4, 3), 0),
    (lambda: nn.Linear(3, 2), (4, 5, 3), 0),
    (lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), (4, 3), 0),
    (lambda: nn.Conv1d(4, 6, 3, groups=2, stride=2), (3, 4, 9), 0),
    (lambda: nn.Conv2d(3, 4, 3, padding="same"), (4, 3, 5, 5), 0),
    (lambda: nn.Conv3d(2, 3, 2, dilation=2, padding=1), (3, 2, 4, 4, 4), 0),
    (lambda: nn.Sequential(nn.Conv1d(4, 4, 3), nn.GroupNorm(2, 4)), (3, 4, 8), 0),
    (lambda: nn.LayerNorm(8), (3, 4, 8), 0),
    (lambda: nn.InstanceNorm1d(4, affine=True, track_running_stats=True), (3, 4, 8), 0),
    (lambda: nn.GRU(3, 2, num_layers=2), (5, 4, 3), 1),
    (lambda: nn.RNN(3, 2, batch_first=True, bidirectional=True), (4, 5, 3), 0),
])  # fmt: skip
def test_each_sample_has_the_gradient_that_it_has_alone(make: Any, shape: Any, axis: int) -> None:
    torch.manual_seed(0)
    module = make().double()
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    expected = one_by_one(module, x, axis)
    plain = module(x)
    out = call_for_per_sample_grads(module, batch_first=axis == 0)(x)
    first, same = (out[0], plain[0]) if isinstance(out, tuple) else (out, plain)
    assert torch.equal(first, same)
    x.grad = None
    first.sin().sum().backward()
    for parameter, wanted in zip(module.parameters(), expected):
        torch.testing.assert_close(parameter.grad_sample, wanted)
        assert parameter.grad is None
    (theirs,) = torch.autograd.grad(same.sin().sum(), x)
    torch.testing.assert_close(x.grad, theirs)


def test_rows_of_an_embedding() -> None:
    layer = nn.Embedding(5, 2, max_norm=1.0)
    call_for_per_sample_grads(layer)(torch.tensor([[1, 2], [3, 3]])).sum().backward()
    assert layer.weight.grad_sample[..., 0].tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 2, 0]]


def test_running_means_are_updated_once() -> None:
    layer = nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
    x = torch.ones(3, 2, 4)
    call_for_per_sample_grads(layer)(x).sum().backward()
    torch.testing.assert_close(layer.running_mean, torch.full((2,), 0.1))


def test_frozen_weights_get_none_and_means_are_scaled() -> None:
    layer = nn.Linear(3, 2)
    layer.bias.requires_grad_(False)
    x = torch.ones(4, 3)
    call_for_per_sample_grads(layer, loss_reduction="mean")(x).sum().backward()
    assert layer.weight.grad_sample.tolist() == [[[4.0] * 3] * 2] * 4
    assert not hasattr(layer.bias, "grad_sample")


@pytest.mark.parametrize("make, shape, name", [
    (lambda: nn.BatchNorm1d(4), (3, 4, 8), "batch_norm"),
    (lambda: nn.PReLU(), (3, 4), "prelu"),
    (lambda: nn.ConvTranspose1d(3, 2, 2), (4, 3, 6), "conv_transpose1d"),
    (lambda: nn.LSTM(3, 2), (4, 4, 3), "mkldnn_rnn_layer.default"),
    (lambda: nn.RMSNorm(3), (4, 3), "rms_norm"),
])  # fmt: skip
def test_other_layers_are_refused_by_name(make: Any, shape: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match=f"cannot handle function {name}$"):
        call_for_per_sample_grads(make())(torch.randn(*shape))


def test_what_is_no_batch_is_refused() -> None:
    for call, text in (
        (lambda: call_for_per_sample_grads(nn.Linear(3, 2))(torch.ones(3)), "at least rank 2"),
        (lambda: call_for_per_sample_grads(nn.Linear(3, 2))(torch.ones(0, 3)), "0 is not a valid"),
        (lambda: call_for_per_sample_grads(nn.Embedding(3, 2))(torch.tensor([1])), "1D tensor"),
        (lambda: call_for_per_sample_grads(nn.LayerNorm((2, 3)))(torch.ones(2, 3)), "normalize"),
        (lambda: call_for_per_sample_grads(nn.Conv1d(3, 4, 2))(torch.ones(3, 8)), "of dim 2"),
        (lambda: call_for_per_sample_grads(nn.Linear(3, 2), batch_size=5)(torch.ones(4, 3)),
         "size of 4 with ExpandedWeight of batch size 5"),
        (lambda: call_for_per_sample_grads(nn.Linear(3, 2))(3), "Unable to find a tensor"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            call()


def test_weights_by_hand() -> None:
    with pytest.raises(RuntimeError, match="of Tensors, got int"):
        ExpandedWeight(3, 2, "sum")
    with pytest.raises(RuntimeError, match="requires_grad"):
        ExpandedWeight(torch.ones(2), 2, "sum")
    weight = ExpandedWeight(torch.ones(2, 3, requires_grad=True), 4, "sum")
    with pytest.raises(RuntimeError, match=r"function add$"):
        weight + 1
    with pytest.raises(RuntimeError, match="inputs that are also ExpandedWeights"):
        F.linear(weight, weight)
    mean = ExpandedWeight(torch.ones(2, requires_grad=True), 4, "mean")
    with pytest.raises(RuntimeError, match="got onewith sum and one with mean"):
        F.linear(torch.ones(4, 3), weight, mean)
    mixed = F.linear(torch.ones(4, 3), weight, torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="mixture of ExpandedWeight"):
        mixed.sum().backward()
