"""Convolutions in compiled steps: the calls of eager ones, or products of matrices."""

import subprocess
import sys
from copy import deepcopy
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._native.llvm import target

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")

CASES = [
    (nn.Conv2d(16, 16, 3, padding=1), (3, 16, 9, 8)),
    (nn.Conv2d(64, 64, 3, padding=1, bias=False), (2, 64, 7, 7)),
    (nn.Conv2d(32, 40, 3, padding=1), (9, 32, 12, 12)),
    (nn.Conv2d(3, 8, 3, stride=2, padding=1), (3, 3, 9, 8)),
    (nn.Conv2d(8, 5, 1), (3, 8, 9, 8)), (nn.Conv2d(8, 5, 1), (1, 8, 2, 3)),
    (nn.Conv2d(8, 5, 1, stride=2), (3, 8, 9, 8)), (nn.Conv2d(8, 5, (9, 8)), (3, 8, 9, 8)),
    (nn.Conv2d(6, 6, 3, padding=1, groups=6), (2, 6, 7, 7)),
    (nn.Conv2d(4, 4, 3, padding=1, groups=4, stride=2), (2, 4, 8, 8)),
    (nn.Conv2d(6, 12, 3, padding=1, groups=3), (2, 6, 7, 7)),
    (nn.Conv2d(4, 6, (3, 2), dilation=(2, 1), padding=(0, 1)), (2, 4, 9, 3)),
    (nn.Conv1d(6, 12, 3, padding=1, dilation=2), (2, 6, 17)), (nn.Conv1d(6, 12, 1), (2, 6, 17)),
    (nn.Conv1d(6, 4, 17), (2, 6, 17)), (nn.Conv3d(2, 3, 3), (1, 2, 5, 6, 7)),
    (nn.ConvTranspose2d(8, 5, 4, 2, 1), (3, 8, 5, 6)),
    (nn.ConvTranspose2d(8, 5, 1), (3, 8, 5, 6)), (nn.ConvTranspose2d(8, 5, 4), (3, 8, 1, 1)),
    (nn.ConvTranspose1d(4, 6, 3, 2, 1, output_padding=1, bias=False), (2, 4, 9)),
    (nn.ConvTranspose2d(4, 6, 3, groups=2), (2, 4, 5, 5)),
]  # fmt: skip


def trained(layer: Any, inputs: list[Any], run_compiled: bool) -> tuple[Any, list[Any]]:
    """A step with work around the layer, and what it leaves after calls with some inputs."""
    layer = deepcopy(layer).to(inputs[0].dtype)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        x = x * torch.tanh(layer.weight.sum())
        y = torch.relu(layer(x))
        loss = (y * y).mean()
        loss.backward()
        optimizer.step()
        return loss

    run: Any = torch.compile(step) if run_compiled else step
    losses = [run(x) for x in inputs]
    return run, [*losses, *layer.parameters(), *(p.grad for p in layer.parameters())]


def same(found: list[Any], expected: list[Any], tolerance: float) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype and a.stride() == b.stride()
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("layer", "shape"), CASES)
def test_layers_train_as_eager_ones_do(layer: Any, shape: Any, dtype: Any) -> None:
    torch.manual_seed(3)
    inputs = [torch.randn(*shape, dtype=dtype) for _ in range(6)]
    _, expected = trained(layer, inputs, False)
    run, found = trained(layer, inputs, True)
    same(found, expected, 1e-4 if dtype == torch.float32 else 1e-11)
    left = {i.name for i in run.machine.plan.list_left()}
    assert len(shape) == 5 or not left, left


@pytest.mark.parametrize("odd", [0.0, float("inf"), float("nan"), 1e38])
@pytest.mark.parametrize("of_weights", [False, True])
def test_what_sums_and_differences_cannot_do_is_done_directly(odd: float, of_weights: bool) -> None:
    torch.manual_seed(4)
    layer = nn.Conv2d(16, 16, 3, padding=1)
    inputs = [torch.randn(4, 16, 8, 8) for _ in range(6)]
    with torch.no_grad():
        (layer.weight if of_weights else inputs[4])[2, 3, 1, 1] = odd

    def make(run: Any) -> list[Any]:
        layer.zero_grad()
        found = []
        for x in inputs:
            y, gx, gw = run(x, layer.weight, layer.bias)
            found += [y, gx, gw]
        return found

    def step(x: Any, w: Any, b: Any) -> Any:
        x = (x * 1.0).requires_grad_()
        y = torch.conv2d(x, w, b, padding=1)
        return y, *torch.autograd.grad(y.tanh().sum(), [x, w])

    compiled = torch.compile(step)
    same([x.detach() for x in make(compiled)], [x.detach() for x in make(step)], 1e-5)
    assert compiled.machine is not None


def test_operands_that_lie_otherwise_are_read_where_they_lie() -> None:
    torch.manual_seed(5)
    weight = torch.randn(6, 4, 3, 3, requires_grad=True)

    def step(x: Any) -> Any:
        y = torch.relu(torch.cat([x[:, 1:5], x[:, 2:6]], 0))
        z = torch.conv2d(y[1:, :, 1:, 1:], weight, padding=1)
        z = z.sum(0) + torch.conv2d(x.transpose(2, 3)[:, 1:5, 1:, 1:], weight, padding=1).sum(0)
        return z, torch.autograd.grad((z * z).sum(), weight)[0]

    run: Any = torch.compile(step)
    for _ in range(5):
        x = torch.randn(2, 6, 8, 8)
        x = torch.cat([x, x * 2])
        for a, b in zip(run(x), step(x), strict=True):
            torch.testing.assert_close(a.detach(), b.detach(), rtol=1e-5, atol=1e-4)


def test_channels_last_stays_so() -> None:
    layer = nn.Conv2d(4, 6, 3).to(memory_format=torch.channels_last)
    run: Any = torch.compile(lambda x: layer(x * 2))
    for _ in range(5):
        x = torch.randn(2, 4, 7, 7).to(memory_format=torch.channels_last)
        found, expected = run(x), layer(x * 2)
        assert found.stride() == expected.stride()
        torch.testing.assert_close(found.detach(), expected.detach())


def test_threads_change_no_digit() -> None:
    program = """if True:
        import sys
        import rushlight as torch
        torch.set_num_threads(int(sys.argv[1]))
        torch.manual_seed(0)
        nn = torch.nn
        model = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 16, 3, stride=2), nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2),
            nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 4, 1),
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        @torch.compile
        def step(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        x = torch.randn(8, 3, 32, 32)
        for _ in range(5):
            step(x)
        assert step.machine is not None
        print([float(p.double().sum()) for p in model.parameters()])
    """
    made = [
        subprocess.run([sys.executable, "-c", program, str(n)], capture_output=True, text=True,
                       check=True).stdout
        for n in (1, 2, 3)
    ]  # fmt: skip
    assert made[0] == made[1] == made[2]
