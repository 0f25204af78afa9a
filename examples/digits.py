"""Trains a small network to read handwritten digits and writes what it learnt to report/index.html.

    python examples/digits.py
    python examples/digits.py --epochs 10 --seed 3 --out digits.html

The pictures are the 1797 digits of 8 by 8 pixels that come with scikit-learn.
Needs: pip install 'rushlight[demo]'
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import rushlight as torch
from rushlight import nn
from rushlight.viz import graph_svg
from rushlight.viz.classifier import Answers, History, classifier_page
from rushlight.viz.progress import progress
from rushlight.viz.report import Figure, Page

TEST_SIZE = 450
BATCH_SIZE = 32
LEARNING_RATE = 0.002
NOISE = 0.2  # added to training pictures, so that none of them can be learnt by heart


class Split(NamedTuple):
    """Pictures as rows of 64 numbers from 0 to 1, and the digit that each one shows."""

    x: torch.Tensor
    y: torch.Tensor


def load_data() -> tuple[Split, Split]:
    """The pictures to train on and the ones to test on, shuffled by the current seed."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit("this example needs scikit-learn: pip install 'rushlight[demo]'")
    digits = load_digits()
    x = torch.tensor(digits.data / 16, dtype=torch.float32)
    y = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.randperm(len(y))
    test, train = order[:TEST_SIZE], order[TEST_SIZE:]
    return Split(x[train], y[train]), Split(x[test], y[test])


def make_model() -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, 256),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(256, 256),
        nn.ReLU(),
        nn.Linear(256, 10),
    )


def train_epoch(model: nn.Module, optimiser: torch.optim.Optimizer, data: Split) -> None:
    """One pass over the training pictures, in a new order."""
    model.train()
    for batch in torch.randperm(len(data.y)).split(BATCH_SIZE):
        x = data.x[batch]
        scores = model(x + NOISE * torch.randn_like(x))
        loss = nn.functional.cross_entropy(scores, data.y[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@torch.no_grad()
def evaluate(model: nn.Module, data: Split) -> tuple[float, float]:
    """Mean loss and the share of right answers."""
    model.eval()
    scores = model(data.x)
    loss = nn.functional.cross_entropy(scores, data.y)
    return loss.item(), (scores.argmax(1) == data.y).float().mean().item()


def train(model: nn.Module, train_data: Split, test_data: Split, epochs: int) -> History:
    """Trains with Adam while the learning rate falls to zero, and tells how it went."""
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    history = History()
    with progress(epochs) as show:
        for epoch in range(epochs):
            for group in optimiser.param_groups:
                group["lr"] = LEARNING_RATE * (1 - epoch / epochs)
            train_epoch(model, optimiser, train_data)
            loss, accuracy = evaluate(model, train_data)
            history.train_loss.append(loss)
            history.train_accuracy.append(accuracy)
            test_loss, test_accuracy = evaluate(model, test_data)
            history.test_loss.append(test_loss)
            history.test_accuracy.append(test_accuracy)
            show(
                f"epoch {epoch + 1:3d}   loss {loss:.4f}   "
                f"test loss {test_loss:.4f}   test accuracy {test_accuracy:6.2%}"
            )
    return history


def make_page(
    model: nn.Module, train_data: Split, test_data: Split, history: History, seed: int, time_: float
) -> Page:
    with torch.no_grad():
        sure, said = model(test_data.x).softmax(1).max(1)
    answers = Answers(
        test_data.x.reshape(-1, 8, 8).tolist(),
        test_data.y.tolist(),
        said.tolist(),
        sure.tolist(),
        [str(digit) for digit in range(10)],
    )
    model.train()
    scores = model(train_data.x[:BATCH_SIZE])
    loss = nn.functional.cross_entropy(scores, train_data.y[:BATCH_SIZE])
    size = sum(parameter.numel() for parameter in model.parameters())
    return classifier_page(
        "Handwritten digits, read by Rushlight",
        f"A network of three layers, trained on {len(train_data.y)} pictures and tested on "
        f"{len(test_data.y)} others.",
        history,
        answers,
        graph=graph_svg(loss, params=dict(model.named_parameters())),
        figures=[
            Figure("Training time", f"{time_:.1f} s", f"{len(history.test_loss)} epochs"),
            Figure("Parameters", f"{size:,}", "64 → 256 → 256 → 10"),
        ],
        facts={
            "written": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
            "seed": str(seed),
            "rushlight": torch.__version__,
            "numpy": version("numpy"),
            "scikit-learn": version("scikit-learn"),
            "python": platform.python_version(),
            "system": f"{platform.system()} on {platform.machine()}",
        },
    )


def whole_number(text: str, low: int) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number is needed, got {text!r}") from None
    if not low <= value < 2**63:
        raise argparse.ArgumentTypeError(f"a number from {low} on is needed, got {text}")
    return value


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a network to read handwritten digits.")
    parser.add_argument("--epochs", type=lambda text: whole_number(text, 1), default=30)
    parser.add_argument("--seed", type=lambda text: whole_number(text, 0), default=0)
    parser.add_argument("--out", type=Path, default=Path("report/index.html"), help="the page")
    options = parser.parse_args(arguments)
    # Now rather than after the training.
    if options.out.is_dir():
        parser.error(f"argument --out: {str(options.out)!r} is a folder, a file name is needed")
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"argument --out: {error}")
    return options


def main(arguments: list[str] | None = None) -> float:
    """Trains, writes the page and gives the accuracy on the test pictures."""
    options = parse_options(arguments)
    torch.manual_seed(options.seed)
    train_data, test_data = load_data()
    model = make_model()
    start = time.perf_counter()
    history = train(model, train_data, test_data, options.epochs)
    seconds = time.perf_counter() - start
    page = make_page(model, train_data, test_data, history, options.seed, seconds)
    accuracy = history.test_accuracy[-1]
    print(f"{accuracy:.2%} of the test pictures read right after {seconds:.1f} s of training")
    print(f"the page is {page.write(options.out)}")
    return accuracy


if __name__ == "__main__":
    main()
