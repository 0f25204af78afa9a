"""Training on real data from one seed: the losses of the first steps are PyTorch's."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
datasets = pytest.importorskip("sklearn.datasets")

STEPS = 20
RELATIVE = 1e-4


def perceptron(nn: Any) -> Any:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def convolutional(nn: Any) -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(64, 10),
    )


def recurrent(nn: Any) -> Any:
    class Reader(nn.Module):  # type: ignore[misc]
        """Reads an image row by row."""

        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(8, 32, num_layers=2, batch_first=True)
            self.head = nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            out, _ = self.lstm(x.squeeze(1))
            return self.head(out[:, -1])

    return Reader()


def attentive(nn: Any) -> Any:
    class Reader(nn.Module):  # type: ignore[misc]
        """A two-layer transformer over the rows of an image."""

        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(8, 32)
            layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.encoder(self.embed(x.squeeze(1))).mean(1))

    return Reader()


def losses(
    library: str, model: Callable[[Any], Any], optimizer: str, **options: Any
) -> list[float]:
    """The losses of the first steps on the handwritten digits of scikit-learn."""
    torch = importlib.import_module(library)
    nn = importlib.import_module(f"{library}.nn")
    optim = importlib.import_module(f"{library}.optim")
    images, labels = datasets.load_digits(return_X_y=True)
    x = torch.from_numpy((images.reshape(-1, 1, 8, 8) / 16).astype(np.float32))
    y = torch.from_numpy(labels.astype(np.int64))
    torch.manual_seed(0)
    net = model(nn)
    chosen = getattr(optim, optimizer)(net.parameters(), **options)
    criterion = nn.CrossEntropyLoss()
    order = torch.randperm(len(x))
    found = []
    for step in range(STEPS):
        batch = order[step * 64 : (step + 1) * 64]
        chosen.zero_grad()
        loss = criterion(net(x[batch]), y[batch])
        loss.backward()
        chosen.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize("model", [perceptron, convolutional, recurrent, attentive])
@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("SGD", {"lr": 0.1, "momentum": 0.9}), ("AdamW", {"lr": 1e-3})],
    ids=["SGD", "AdamW"],
)
def test_the_first_steps_lose_what_they_lose_in_torch(
    model: Callable[[Any], Any], optimizer: str, options: dict[str, Any]
) -> None:
    theirs = losses("torch", model, optimizer, **options)
    ours = losses("rushlight", model, optimizer, **options)
    np.testing.assert_allclose(ours, theirs, rtol=RELATIVE)
    assert len(set(theirs)) == STEPS
