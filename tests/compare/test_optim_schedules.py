"""Schedules of the learning rate for 200 steps on both, and from one side's file to the other."""

import importlib
import io
import re
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import rushlight  # noqa: E402
import rushlight.optim  # noqa: E402

STEPS = 200
_ADDRESS = re.compile(r"0x[0-9a-f]+")


class Slower:
    """A factor that is an object, with a state of its own."""

    def __init__(self, power: float) -> None:
        self.power = power
        self.calls = 0

    def __call__(self, epoch: int) -> float:
        self.calls += 1
        return float((1 + epoch) ** -self.power)


SCHEDULES = """
StepLR(o, 30) | StepLR(o, 7, 0.9) | StepLR(o, 1, 0.99) | MultiStepLR(o, [30, 80, 80, 150]) | MultiStepLR(o, [], 0.5)
ConstantLR(o) | ConstantLR(o, 0.5, 60) | LinearLR(o) | LinearLR(o, 0.3, 0.9, 120) | LinearLR(o, 0.1, total_iters=1)
ExponentialLR(o, 0.98) | ExponentialLR(o, 1.01) | PolynomialLR(o, 150, 2.0) | PolynomialLR(o) | PolynomialLR(o, 250, 0.5)
CosineAnnealingLR(o, 40, 0.01) | CosineAnnealingLR(o, 200) | CosineAnnealingLR(o, 7)
LambdaLR(o, lambda e: 0.98 ** e) | LambdaLR(o, [lambda e: 0.9 ** e, lambda e: 1 / (1 + e)]) | LambdaLR(o, Slower(0.5))
LambdaLR(o, [Slower(0.5), lambda e: 0.95 ** e]) | MultiplicativeLR(o, lambda e: 0.99) | MultiplicativeLR(o, [Slower(0.01), Slower(0.02)])
CosineAnnealingWarmRestarts(o, 30) | CosineAnnealingWarmRestarts(o, 10, 2, 0.01) | CosineAnnealingWarmRestarts(o, 1)
OneCycleLR(o, 1.0, 201) | OneCycleLR(o, [1.0, 0.5], epochs=11, steps_per_epoch=20, anneal_strategy='linear', three_phase=True)
OneCycleLR(o, 0.7, 210, pct_start=0.1, div_factor=3.0, final_div_factor=10.0, base_momentum=0.5, max_momentum=[0.8, 0.9])
OneCycleLR(o, 0.7, 210, cycle_momentum=False, three_phase=True)
CyclicLR(o, 0.1, 1.0, 30) | CyclicLR(o, 0.1, 1.0, 20, 35, mode='triangular2') | CyclicLR(o, [0.1, 0.2], 1.0, 13, mode='exp_range', gamma=0.99)
CyclicLR(o, 0.1, 1.0, 30, scale_fn=lambda x: 0.5 ** x) | CyclicLR(o, 0.1, 1.0, 30, scale_fn=lambda x: 1 / (1 + x), scale_mode='iterations')
CyclicLR(o, 0.1, 1.0, 30, cycle_momentum=False) | CyclicLR(o, 0.1, 1.0, 30, base_momentum=[0.1, 0.2], max_momentum=0.7)
ChainedScheduler([ConstantLR(o, 0.1, 20), ExponentialLR(o, 0.99)]) | ChainedScheduler([StepLR(o, 30, 0.5), CosineAnnealingLR(o, 50)], o)
ChainedScheduler([LambdaLR(o, Slower(0.2)), MultiplicativeLR(o, lambda e: 0.99)])
SequentialLR(o, [ConstantLR(o, 0.1, 20), ExponentialLR(o, 0.98)], [30])
SequentialLR(o, [LinearLR(o, 0.1, 1.0, 40), CosineAnnealingLR(o, 100), StepLR(o, 20)], [40, 140])
SequentialLR(o, [StepLR(o, 20), LambdaLR(o, lambda e: 1 / (1 + e))], [50])
SequentialLR(o, [StepLR(o, 20), CosineAnnealingWarmRestarts(o, 30)], [50])
SequentialLR(o, [SequentialLR(o, [StepLR(o, 5), ConstantLR(o, 0.2, 9)], [30]), ExponentialLR(o, 0.99)], [50])
SequentialLR(o, [ChainedScheduler([StepLR(o, 5), ConstantLR(o, 0.2, 9)]), ExponentialLR(o, 0.99)], [50])
ChainedScheduler([SequentialLR(o, [StepLR(o, 5), ConstantLR(o, 0.2, 9)], [30]), ExponentialLR(o, 0.99)])
SequentialLR(o, [StepLR(o, 5), CyclicLR(o, 0.2, 9.0, 20)], [40]) | SequentialLR(o, [StepLR(o, 5), OneCycleLR(o, 0.2, 200)], [40])
SWALR(o, 0.05) | SWALR(o, [0.05, 0.01], 30, 'linear') | SWALR(o, 0.05, 0) | SWALR(o, 0.5, 150, 'cos')
"""  # noqa: E501
CASES = [part.strip() for row in SCHEDULES.strip().splitlines() for part in row.split(" | ")]


def text(value: Any) -> str:
    """`repr` without addresses and the package's name."""
    return _ADDRESS.sub("0x", repr(value)).replace("rushlight", "torch")


def start(T: Any, case: str, lr: str, rule: str) -> tuple[Any, Any]:
    """An optimizer of two groups and its schedule."""
    w, v = T.nn.Parameter(T.ones(2)), T.nn.Parameter(T.ones(3))
    names: dict[str, Any] = {"T": T, "Slower": Slower}
    names.update(vars(importlib.import_module(T.__name__ + ".optim.lr_scheduler")))
    names.update(vars(importlib.import_module(T.__name__ + ".optim.swa_utils")))
    second = eval(lr.replace("0.2", "0.5"), names)
    groups = [{"params": [w]}, {"params": [v], "lr": second}]
    rate = eval(lr, names)
    if rule == "SGD":
        optimizer = T.optim.SGD(groups, lr=rate, momentum=0.9)
    else:
        optimizer = T.optim.Adam(groups, lr=rate)
    names["o"] = optimizer
    return optimizer, eval(case, names)


def rates(optimizer: Any, schedule: Any) -> tuple[Any, ...]:
    """The rates and momenta that are in place, as numbers."""
    groups = optimizer.param_groups
    return (
        [float(rate) for rate in schedule.get_last_lr()],
        [float(group["lr"]) for group in groups],
        [group["momentum"] if "momentum" in group else group["betas"] for group in groups],
    )


@pytest.mark.parametrize("lr", ["0.2", "T.tensor(0.2)"])
@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@pytest.mark.parametrize("case", CASES)
def test_a_schedule_sets_the_same_rates_for_200_steps(case: str, rule: str, lr: str) -> None:
    results = []
    for T in (torch, rushlight):
        seen: list[Any] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            optimizer, schedule = start(T, case, lr, rule)
            seen.append(text(schedule.state_dict()))
            for step in range(STEPS):
                optimizer.step()
                schedule.step()
                seen.append(rates(optimizer, schedule))
                if step % 50 == 49:
                    seen.append(text(schedule.state_dict()))
        seen.append(text(optimizer))
        seen.append([str(one.message) for one in caught])
        results.append(seen)
    assert results[0][-1] == results[1][-1]
    if lr == "0.2":
        assert results[1] == results[0]
        return
    # In float32, where the last digit may be another.
    for theirs, ours in zip(*results, strict=True):
        if isinstance(theirs, tuple):
            for a, b in zip(ours[:2], theirs[:2], strict=True):
                assert a == pytest.approx(b, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_a_schedule_goes_on_from_the_other_ones_file(case: str) -> None:
    def goes_on(writer: Any, reader: Any) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer, schedule = start(writer, case, "0.2", "SGD")
            for _ in range(60):
                optimizer.step()
                schedule.step()
            buffer = io.BytesIO()
            held = {"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
            writer.save(held, buffer)
            buffer.seek(0)
            kept = reader.load(buffer)
            optimizer, schedule = start(reader, case, "0.2", "SGD")
            optimizer.load_state_dict(kept["optimizer"])
            schedule.load_state_dict(kept["schedule"])
            seen = [text(schedule.state_dict())]
            for _ in range(100):
                optimizer.step()
                schedule.step()
                seen.append(rates(optimizer, schedule))
            return [*seen, text(schedule.state_dict()), text(optimizer.state_dict())]

    wanted = goes_on(torch, torch)
    for writer, reader in ((torch, rushlight), (rushlight, torch), (rushlight, rushlight)):
        assert goes_on(writer, reader) == wanted


PLATEAUS = """
{} | mode='max', threshold=0.1 | patience=1, cooldown=2 | factor=0.5, min_lr=0.05 | min_lr=[0.01, 0.1]
threshold_mode='abs', patience=0, threshold=0.3 | mode='max', threshold_mode='abs', patience=3 | eps=0.05, patience=0
factor=0.9, patience=0, cooldown=1
"""  # noqa: E501


@pytest.mark.parametrize(
    "options", [part.strip() for row in PLATEAUS.strip().splitlines() for part in row.split(" | ")]
)
def test_a_plateau_is_found_at_the_same_of_200_steps(options: str) -> None:
    results = []
    measures = [3.0 / (1 + 0.1 * (i % 60)) + (i * 7 % 5) * 0.01 for i in range(STEPS)]
    for T in (torch, rushlight):
        case = f"ReduceLROnPlateau(o, {'' if options == '{}' else options})"
        optimizer, schedule = start(T, case, "0.2", "SGD")
        seen: list[Any] = [text(schedule.state_dict())]
        for step, value in enumerate(measures):
            optimizer.step()
            schedule.step(T.tensor(value) if step % 2 else value)
            seen.append(rates(optimizer, schedule))
            seen.append((schedule.num_bad_epochs, schedule.cooldown_counter, schedule.best))
        seen.append(text(schedule.state_dict()))
        results.append(seen)
    assert results[1] == results[0]


WARNINGS = """
s = StepLR(o, 2); s.step()
s = StepLR(o, 2); s.step(); s.step(3); s.step()
s = StepLR(o, 2); o.step(); s.step(); s.get_lr()
s = StepLR(o, 2); o.step = lambda *a: None; s.step()
s = ReduceLROnPlateau(o); s.step(1.0); s.step(1.0, 5)
s = ReduceLROnPlateau(o, verbose=True)
s = StepLR(o, 2, verbose=True)
s = CosineAnnealingWarmRestarts(o, 3); s.step(); s.step(5); s.step(2.5); print(s.get_lr())
s = OneCycleLR(o, 1.0, 3); [(o.step(), s.step()) for _ in range(3)]
s = OneCycleLR(o, 1.0, 3); [(o.step(), s.step()) for _ in range(4)]
s = SequentialLR(o, [StepLR(o, 2), StepLR(o, 3)], [2]); s.step(); s.get_lr()
s = ChainedScheduler([StepLR(o, 2), StepLR(o, 3)]); s.step(); s.get_lr()
s = SWALR(o, 0.1); s.get_lr(); o.step(); s.step(); s.step(4)
s = ReduceLROnPlateau(o); s.get_last_lr(); s.get_lr()
s = StepLR(o, 2); print(s, sorted(vars(s)), s.get_last_lr())
s = LRScheduler(o)
s = LambdaLR(o, lambda e: 1.0); s.load_state_dict({}); print(s.last_epoch)
s = CyclicLR(p, 0.1, 1.0)
s = CyclicLR(p, 0.1, 1.0, cycle_momentum=False); print(p)
s = OneCycleLR(q, 1.0, 10); q.step(); s.step(); print(q)
s = CyclicLR(q, 0.1, 1.0, 5); q.step(); s.step(); print(q)
s = OneCycleLR(p, 1.0, 10)
s = SequentialLR(o, [StepLR(o, 2), ReduceLROnPlateau(o)], [3]); [(o.step(), s.step()) for _ in range(4)]
s = ChainedScheduler([StepLR(o, 2), ReduceLROnPlateau(o)]); s.step()
s = StepLR(o, 2); o.add_param_group({'params': [T.ones(1)]}); o.step(); s.step(); print(s.get_last_lr(), o)
s = MultiStepLR(o, [3, 1]); print(s.milestones, s.state_dict())
s = CosineAnnealingWarmRestarts(o, 3, eta_min='x')
s = CosineAnnealingWarmRestarts(o, 3.5)
s = CosineAnnealingWarmRestarts(o, 3, 1.5)
s = LinearLR(o, 0); s = LinearLR(o, 1.5)
s = CyclicLR(o, [0.1], 1.0)
s = CyclicLR(o, 0.1, [1.0])
s = CyclicLR(o, 0.1, 1.0, base_momentum=[0.1])
s = OneCycleLR(o, 0.1, 10, max_momentum=[0.1])
s = SequentialLR(o, [StepLR(o, 5), ChainedScheduler([StepLR(o, 5)])], [2]); [(o.step(), s.step()) for _ in range(4)]
s = SequentialLR(o, [StepLR(o, 5), SequentialLR(o, [StepLR(o, 5)], [])], [2]); [(o.step(), s.step()) for _ in range(4)]
s = ChainedScheduler([StepLR(o, 5), 3])
s = SequentialLR(o, [StepLR(o, 5), ReduceLROnPlateau(p)], [2])
s = OneCycleLR(o, [1.0], 10)
s = SWALR(o, [0.1])
s = SWALR(3, 0.1)
s = OneCycleLR(3, 0.1, 10)
s = CyclicLR(3, 0.1, 10)
s = ReduceLROnPlateau(3)
s = CosineAnnealingLR(o, 5, last_epoch=2)
"""  # noqa: E501


@pytest.mark.parametrize("program", WARNINGS.strip().splitlines())
def test_warnings_and_errors_are_the_same(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for T in (torch, rushlight):
        names: dict[str, Any] = {"T": T, "print": lambda *a: print(*map(text, a))}
        names.update(vars(importlib.import_module(T.__name__ + ".optim.lr_scheduler")))
        names.update(vars(importlib.import_module(T.__name__ + ".optim.swa_utils")))
        w = T.nn.Parameter(T.ones(2))
        names["o"] = T.optim.SGD([{"params": [w]}, {"params": [T.ones(2)]}], lr=0.2, momentum=0.9)
        names["p"] = T.optim.Adagrad([T.ones(2)])
        names["q"] = T.optim.Adam([T.ones(2)])
        capsys.readouterr()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(program, names)
                ended = "ok"
            except Exception as error:
                ended = f"{type(error).__name__}: {text(str(error))}"
        said = [f"{one.category.__name__}: {one.message}" for one in caught]
        results.append((ended, said, capsys.readouterr().out))
    assert results[1] == results[0]
