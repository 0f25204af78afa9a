"""Predicts how a random walk ends, by TD(λ), and shows how λ and the step size matter.

    python examples/random_walk.py
    python examples/random_walk.py --runs 100 --plot random_walk.png

A walk starts in the middle of 19 states and goes left or right with equal chance until it leaves
them: at the left end the reward is -1, at the right end +1, elsewhere 0. The value of a state is
the reward to be expected from it. Each run sees 10 walks; the error is the root mean square over
the states, averaged over walks and runs (Sutton and Barto 2018, figure 12.6).
"""

from __future__ import annotations

import argparse
import sys

import rushlight as torch
from rushlight import nn
from rushlight.optim import TDLambda

STATES = 19
WALKS = 10
TRUE_VALUES = torch.arange(-STATES + 1, STATES, 2) / (STATES + 1)
STEP_SIZES = (0.1, 0.2, 0.4, 0.6, 0.8)
LAMBDAS = (0.0, 0.4, 0.8, 0.9, 0.95, 1.0)


def walk(generator: torch.Generator) -> tuple[list[int], float]:
    """The states of one walk, and the reward at its end."""
    states, place = [], STATES // 2
    while True:
        for way in torch.randint(2, (64,), generator=generator).tolist():
            states.append(place)
            place += 1 if way else -1
            if place < 0 or place >= STATES:
                return states, -1.0 if place < 0 else 1.0


def learnt_error(
    walks: list[tuple[list[int], float]], lr: float, lambd: float, trace: str = "accumulating"
) -> float:
    """The error while values are learnt from some walks, averaged over these."""
    values = nn.Parameter(torch.zeros(STATES))
    optimizer = TDLambda([values], lr=lr, lambd=lambd, trace=trace)
    errors = []
    for states, reward in walks:
        optimizer.reset()
        before = 0.0
        for now, following in zip(states, [*states[1:], None]):
            optimizer.zero_grad()
            value = values[now]
            value.backward()
            with torch.no_grad():
                ahead = 0.0 if following is None else values[following].item()
                gained = reward if following is None else 0.0
            delta = gained + ahead - value.item()
            optimizer.step(delta, v=value.item(), v_old=before)
            before = ahead
        error = (values.detach() - TRUE_VALUES).square().mean().sqrt().item()
        # Large step sizes make it grow without bound: the plot ends before that.
        errors.append(min(error, 1.0) if error == error else 1.0)
    return sum(errors) / len(errors)


def main(arguments: list[str]) -> dict[tuple[float, float], float]:
    """Prints the table of errors; gives them by (λ, step size)."""
    parser = argparse.ArgumentParser(description="TD(λ) on the 19-state random walk")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trace", default="accumulating",
                        choices=["accumulating", "replacing", "dutch"])  # fmt: skip
    parser.add_argument("--plot", help="write a picture to this file (needs matplotlib)")
    options = parser.parse_args(arguments)
    generator = torch.Generator().manual_seed(options.seed)
    runs = [[walk(generator) for _ in range(WALKS)] for _ in range(options.runs)]
    print("lambda " + "".join(f"  lr={lr:<5}" for lr in STEP_SIZES))
    errors = {}
    for lambd in LAMBDAS:
        for lr in STEP_SIZES:
            found = [learnt_error(walks, lr, lambd, options.trace) for walks in runs]
            errors[lambd, lr] = sum(found) / len(found)
        row = "".join(f"  {errors[lambd, lr]:.4f}  " for lr in STEP_SIZES)
        print(f"{lambd:<7}{row}", flush=True)
    best = min(errors, key=lambda pair: errors[pair])
    print(f"least error {errors[best]:.4f} at lambda={best[0]}, lr={best[1]}")
    if options.plot:
        plot(errors, options.plot)
    return errors


def plot(errors: dict[tuple[float, float], float], path: str) -> None:
    """Draws a curve of the error over the step size for each λ."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    for lambd in LAMBDAS:
        axes.plot(STEP_SIZES, [errors[lambd, lr] for lr in STEP_SIZES], label=f"λ = {lambd}")
    axes.set(xlabel="step size", ylabel="root mean square error", ylim=(0.2, 0.6))
    axes.legend()
    figure.savefig(path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
