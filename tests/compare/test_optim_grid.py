"""`rushlight.optim` and `torch.optim` over the grid of `optim_grid`, and from file to file."""

import importlib
import io
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import rushlight  # noqa: E402
import rushlight.optim  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
grid = importlib.import_module("optim_grid")
sys.path.pop(0)


@pytest.mark.parametrize("kind", grid.KINDS)
@pytest.mark.parametrize("name", list(grid.OPTIONS))
def test_every_option_and_pair_of_options_does_the_same_for_twenty_steps(
    name: str, kind: str
) -> None:
    found = []
    calls = list(grid.cells(name))
    if kind not in ("float32", "groups"):
        calls = calls[: 1 + len(grid.OPTIONS[name])]
    for call in calls:
        if grid.fails_in_torch(call, kind):
            continue
        theirs, ours = (grid.run_cell(T, call, kind) for T in (torch, rushlight))
        different = grid.differences(ours, theirs, grid.tolerance(name, kind, call))
        if different:
            found.append((call, different[:2]))
    assert found == []


def part(T: Any, call: str, kind: str, steps: range, kept: Any = None) -> tuple[Any, Any]:
    """Some of the twenty steps, from the start or from a file; the optimizer and the parameters."""
    shapes = [(3, 4), (4, 2)] if call.startswith("Muon") else grid.SHAPES
    params, (dtype, wide) = grid.parameters(T, kind, shapes)
    given: Any = [{"params": params[:1]}, {"params": params[1:], "lr": 0.3}]
    names = {"T": T, "params": given, **{n: getattr(T.optim, n) for n in grid.OPTIONS}}
    optimizer = eval(call, names)
    if kept is not None:
        with T.no_grad():
            for p, value in zip(params, kept["params"], strict=True):
                p.copy_(value)
        optimizer.load_state_dict(kept["optimizer"])
    for step in range(steps.stop):
        for p in params:
            p.grad = T.randn(p.shape, dtype=wide).to(dtype)
        if step in steps:
            optimizer.step()
    return optimizer, params


@pytest.mark.parametrize("kind", ["float32", "complex64"])
@pytest.mark.parametrize("name", [name for name in grid.OPTIONS if name != "SparseAdam"])
def test_training_goes_on_from_the_other_ones_file(name: str, kind: str) -> None:
    found = []
    runs = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in list(grid.cells(name))[: 1 + len(grid.OPTIONS[name])]:
            if "error" in grid.run_cell(torch, call, kind, 2):
                continue
            wanted = grid.seen(*part(torch, call, kind, range(20)))
            pairs = ((torch, rushlight), (rushlight, torch), (rushlight, rushlight))
            for writer, reader in pairs:
                optimizer, params = part(writer, call, kind, range(10))
                buffer = io.BytesIO()
                held = {"params": [p.detach() for p in params], "optimizer": optimizer.state_dict()}
                writer.save(held, buffer)
                buffer.seek(0)
                kept = reader.load(buffer, weights_only=True)
                got = grid.seen(*part(reader, call, kind, range(10, 20), kept))
                different = grid.differences(got, wanted, grid.tolerance(name, kind, call))
                runs += 1
                if different:
                    found.append((call, writer.__name__, reader.__name__, different[:2]))
    assert found == []
    assert runs > 0 or (kind == "complex64" and name in ("Adafactor", "Muon"))


def descended(T: Any, options: dict[str, Any], dtype: str, steps: int) -> list[Any]:
    """Rosenbrock's valley by LBFGS: losses, counts and places, with nothing but exact steps."""
    x = T.tensor([-1.2, 1.0], dtype=getattr(T, dtype), requires_grad=True)
    optimizer = T.optim.LBFGS([x], **options)
    found = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optimizer.step(closure).item()
        kept = optimizer.state[x]
        found.append((loss, kept["func_evals"], kept["n_iter"], x.tolist()))
    state = optimizer.state_dict()["state"]
    found.append({key: type(value).__name__ for key, value in state[0].items()} if state else {})
    return found


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lbfgs_takes_the_same_steps_for_as_many_losses(dtype: str, search: str | None) -> None:
    found = []
    for most in (1, 2, 4, 20):
        for extra in ({}, {"max_eval": 7}, {"history_size": 2}, {"max_eval": 30, "lr": 0.1},
                      {"lr": torch.tensor(0.2)}, {"tolerance_change": 1e-2},
                      {"tolerance_grad": 10.0}):  # fmt: skip
            options = {"max_iter": most, "line_search_fn": search, **extra}
            theirs = descended(torch, options, dtype, 20)
            if "lr" in extra and extra["lr"] != 0.1:
                options["lr"] = rushlight.tensor(0.2)
            ours = descended(rushlight, options, dtype, 20)
            for step, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                # A step along the valley magnifies the last digit by its curvature, 1000 : 1.
                near = a == b if isinstance(a, dict) else (
                    a[1:3] == b[1:3] and a[0] == pytest.approx(b[0], rel=1e-3, abs=1e-7)
                    and a[3] == pytest.approx(b[3], rel=1e-4)
                )  # fmt: skip
                if not near:
                    found.append((options, step, a, b))
                    break
    assert found == []
