"""Numbers that come from outside of a step: constants at first, inputs when they change."""

import json
import math
import random
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim

REPLAYED = {"native": False}


def test_a_number_argument_that_changes_becomes_an_input() -> None:
    def step(x: Any, rate: float, n: int = 2) -> Any:
        return x * rate + n - rate / 2, rate * n

    compiled = torch.compile(step, options=REPLAYED)
    for k in range(60):
        x = torch.randn(3)
        (a, b), (c, d) = compiled(x, 0.1 * k, n=k), step(x, 0.1 * k, k)
        assert torch.equal(a, c)
        assert b == d
        assert type(b) is float
    assert len(compiled.variants) == 1, compiled.explain()
    assert compiled.calls == {"eager": 0, "recorded": 3}
    text = str(compiled.program)
    assert "n1: float = args[1]" in text
    assert "n2: int = n" in text


def test_a_whole_number_where_there_was_a_float_is_another_program() -> None:
    compiled = torch.compile(lambda x, n: x * n, options=REPLAYED)
    whole = torch.arange(3)
    for k in range(30):
        n = [k, k + 0.5, -0.0, float("inf"), float("nan"), True][k % 6]
        a, b = compiled(whole, n), whole * n
        assert a.dtype == b.dtype
        assert torch.equal(torch.nan_to_num(a.double()), torch.nan_to_num(b.double()))
        assert torch.equal(torch.signbit(a), torch.signbit(b))


class Adam:
    """As it is written by hand."""

    def __init__(self, parameters: Any, rate: float) -> None:
        self.parameters = list(parameters)
        self.rate = rate
        self.t = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        self.t += 1
        for p, m, v in zip(self.parameters, self.m, self.v):
            g = p.grad
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            first = m / (1 - 0.9**self.t)
            second = v / (1 - 0.999**self.t)
            p.sub_(self.rate * first / (second.sqrt() + 1e-8))


@pytest.mark.parametrize("native", [False, True])
def test_an_optimizer_written_by_hand_keeps_its_counter_and_its_rate(native: bool) -> None:
    sides = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        rule = Adam(model.parameters(), 0.05)

        def step(x: Any, y: Any, model: Any = model, rule: Any = rule) -> Any:
            for p in model.parameters():
                p.grad = None
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            rule.step()
            return loss.item()

        sides.append((model, rule, torch.compile(step, options={"native": native})
                      if compiled else step))  # fmt: skip
    for k in range(80):
        x, y = torch.randn(6, 4), torch.randn(6, 1)
        for _, rule, _ in sides:
            rule.rate = 0.05 * (1 + math.cos(k / 10))
        a, b = (step(x, y) for _, _, step in sides)
        assert a == b if not native else a == pytest.approx(b, rel=1e-3)
        assert sides[1][1].t == k + 1
        assert type(sides[1][1].t) is int
    for p, q in zip(sides[0][0].parameters(), sides[1][0].parameters()):
        assert torch.equal(p, q) if not native else torch.allclose(p, q, atol=1e-3)
    compiled_step: Any = sides[1][2]
    assert len(compiled_step.variants) == 1, compiled_step.explain()
    assert compiled_step.calls["eager"] == 0


def test_the_best_loss_so_far_is_kept_by_a_compiled_step() -> None:
    class Best:
        def __init__(self) -> None:
            self.loss = float("inf")
            self.rounds = 0
            self.last = 0.0

    def step(x: Any, best: Any) -> Any:
        loss = (x * x).mean()
        best.last = loss.item()
        if loss.item() < best.loss:
            best.loss = loss.item()
            best.rounds = 0
        else:
            best.rounds += 1
        return loss

    compiled = torch.compile(step, options=REPLAYED)
    mine, other = Best(), Best()
    for k in range(80):
        x = torch.randn(5) * (0.8**k if k % 3 else 1.0)
        assert torch.equal(compiled(x, mine), step(x, other))
        assert vars(mine) == vars(other)
        assert [type(v) for v in vars(mine).values()] == [float, int, float]
    assert len(compiled.variants) == 2, compiled.explain()
    assert compiled.calls["eager"] == 0


COUNT = 0
TABLE = {"scale": 1.0}


def test_globals_closures_and_entries_of_tables_change_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "COUNT", 0)
    rounds = 0

    def step(x: Any) -> Any:
        global COUNT
        nonlocal rounds
        COUNT += 2
        rounds += 1
        TABLE["scale"] = TABLE["scale"] * 0.5
        return x * COUNT + rounds * TABLE["scale"]

    monkeypatch.setitem(TABLE, "scale", 1.0)
    compiled = torch.compile(step, options=REPLAYED)
    scale = 1.0
    for k in range(1, 40):
        scale *= 0.5
        x = torch.randn(2)
        assert torch.equal(compiled(x), x * (2 * k) + k * scale)
        assert (COUNT, rounds, TABLE["scale"]) == (2 * k, k, scale)
    assert compiled.program is not None, compiled.explain()
    assert len(compiled.variants) == 1


def test_a_comparison_of_a_number_makes_a_program_for_each_outcome_only() -> None:
    def step(x: Any, epoch: int, rate: float) -> Any:
        if epoch < 10:
            return x * rate
        return x + rate if rate > 0.5 else x - rate

    compiled = torch.compile(step, options=REPLAYED)
    rng = random.Random(0)
    for k in range(60):
        x, rate = torch.randn(2), rng.random()
        assert torch.equal(compiled(x, k % 20, rate), step(x, k % 20, rate))
    assert len(compiled.variants) == 3, compiled.explain()
    assert compiled.calls["eager"] == 0


@pytest.mark.parametrize(
    "use",
    [
        lambda x, n: x[n],
        lambda x, n: x.view(n + 1, -1) if 6 % (n + 1) == 0 else x,
        lambda x, n: sum((x * k for k in range(n)), x),
        lambda x, n: x * [1.0, 2.0, 3.0][n],
        lambda x, n: x * len(f"{n}{n * 100}"),
        lambda x, n: x * {0: 4.0, 1: 5.0, 2: 6.0}[n],
        lambda x, n: x * math.sqrt(n),
        lambda x, n: x * float(str(n)),
        lambda x, n: torch.full((2,), n) + x[0],
        lambda x, n: torch.zeros(n, 2).sum() + x,
        lambda x, n: x.sum() + torch.tensor(n),
        lambda x, n: x * round(n + 0.4),
        lambda x, n: x * int(n * 1.5),
        lambda x, n: x * hash(n),
        lambda x, n: x * (n if isinstance(n, int) else 100),
        lambda x, n: x * max(n, 1),
        lambda x, n: x * bool(n),
        lambda x, n: x * (2 << n),
        lambda x, n: x * (n % 2) + n // 2,
        lambda x, n: x.roll(n),
        lambda x, n: x.clamp(-n, n),
        lambda x, n: x**n,
        lambda x, n: torch.where(x > n, x, n),
        lambda x, n: x.masked_fill(x > 0, n),
        lambda x, n: torch.nn.functional.leaky_relu(x, n),
        lambda x, n: torch.add(x, x, alpha=n),
        lambda x, n: torch.lerp(x, x * 2, n * 0.25),
        lambda x, n: x.sum(n - n),
        lambda x, n: x.to(torch.float64) / (n + 1),
        lambda x, n: x.int() * n,
        lambda x, n: x.int() / (n + 1),
        lambda x, n: n - x,
        lambda x, n: (n + 1) / x,
        lambda x, n: x > n,
        lambda x, n: json.loads(json.dumps([0.5])) and x * n,
        lambda x, n: x * complex(n, 1).real,
        lambda x, n: x * n.bit_length(),
    ],
)
def test_whatever_a_step_does_with_a_number_gives_what_it_gives_eagerly(use: Any) -> None:
    compiled = torch.compile(use, options=REPLAYED)
    for k in range(24):
        x = torch.randn(6)
        n = [0, 1, 2, 1, 0, 2][k % 6]
        a, b = compiled(x, n), use(x, n)
        assert a.dtype == b.dtype
        assert torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)), (k, n)


def test_numbers_are_themselves_again_after_a_recording() -> None:
    kept: list[Any] = []
    table: dict[str, Any] = {}

    class Other:
        pass

    other = Other()

    def step(x: Any, n: float) -> Any:
        kept.append(n)
        table["n"] = n * 2
        other.value = n + 1
        return x * n, (n, [n])

    compiled = torch.compile(step)
    for k in range(6):
        _, (a, (b,)) = compiled(torch.ones(1), k + 0.5)
        assert type(a) is type(b) is float
    assert [type(n) for n in kept] == [float] * 6
    assert kept == [k + 0.5 for k in range(6)]
    assert table["n"] == 11.0
    assert type(table["n"]) is float
    assert type(other.value) is float


def test_a_hand_written_clip_with_numbers_is_one_program_per_outcome() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    twin = nn.Linear(3, 1)
    twin.load_state_dict(model.state_dict())

    def step_of(model: Any) -> Any:
        rule = optim.SGD(model.parameters(), lr=0.1)

        def step(x: Any, limit: float) -> Any:
            rule.zero_grad()
            model(x).pow(2).sum().backward()
            total = sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5
            scale = limit / (total + 1e-6)
            if scale < 1.0:
                for p in model.parameters():
                    p.grad.mul_(scale)
            rule.step()
            return total

        return step

    a, b = torch.compile(step_of(model), options=REPLAYED), step_of(twin)
    for k in range(60):
        x = torch.randn(2, 3)
        assert a(x, 0.5 + k % 3) == b(x, 0.5 + k % 3)
        assert torch.equal(model.weight, twin.weight)
    assert len(a.variants) == 2, a.explain()


def test_schedules_of_a_number_cost_no_recordings() -> None:
    class Schedule:
        def __init__(self) -> None:
            self.rate = 0.1

    schedule = Schedule()

    @torch.compile(options=REPLAYED)
    def step(p: Any, g: Any) -> Any:
        return p.add_(g, alpha=-schedule.rate)

    p, q = torch.ones(3), torch.ones(3)
    for _ in range(50):
        g = torch.randn(3)
        step(p, g)
        q.add_(g, alpha=-schedule.rate)
        assert torch.equal(p, q)
        schedule.rate *= 0.97
    assert step.calls == {"eager": 0, "recorded": 3}


def reading(rule: Any) -> Any:
    def step(loss: Any, p: Any) -> Any:
        rule.zero_grad()
        loss.backward()
        rate = rule.param_groups[0]["lr"]
        with torch.no_grad():
            p.sub_(p.grad, alpha=rate)
        return rate * 2

    return step


def warming(rule: Any) -> Any:
    def step(loss: Any, p: Any) -> Any:
        WARM["step"] += 1
        for group in rule.param_groups:
            group["lr"] = 0.1 * min(1.0, WARM["step"] / 20)
        rule.zero_grad()
        loss.backward()
        rule.step()
        return rule.param_groups[0]["lr"]

    return step


def decaying(rule: Any) -> Any:
    def step(loss: Any, p: Any) -> Any:
        rule.zero_grad()
        loss.backward()
        rule.step()
        for group in rule.param_groups:
            group["lr"] *= 0.95
        rule.step()

    return step


def stepping(rule: Any) -> Any:
    def step(loss: Any, p: Any) -> Any:
        rule.zero_grad()
        loss.backward()
        rule.step()
        if loss.item() < 0.5:
            rule.param_groups[0]["lr"] = 0.01
        return loss.item()

    return step


WARM = {"step": 0}


@pytest.mark.parametrize("make", [reading, warming, decaying, stepping])
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_rates_of_an_optimizer_are_read_and_written_in_a_step(
    make: Any, native: bool, kind: str
) -> None:
    seen = []
    for compiled in (False, True):
        WARM["step"] = 0
        torch.manual_seed(0)
        p = torch.randn(5, requires_grad=True)
        parameters: Any = [p]
        rule: Any = (
            optim.SGD(parameters, lr=0.1, momentum=0.5)
            if kind == "sgd"
            else optim.Adam(parameters, lr=0.1)
        )
        inner = make(rule)

        def step(x: Any, inner: Any = inner, p: Any = p) -> Any:
            return inner(((p * x) ** 2).mean(), p)

        run: Any = torch.compile(step, options={"native": native}) if compiled else step
        generator = torch.Generator().manual_seed(2)
        results = []
        for k in range(50):
            if k == 30:
                rule.param_groups[0]["lr"] = 0.07
            result = run(torch.randn(5, generator=generator))
            results.append((result, rule.param_groups[0]["lr"], p.detach().clone()))
            assert type(rule.param_groups[0]["lr"]) is float
        seen.append(results)
    for (a, b, p), (c, d, q) in zip(*seen):
        assert a == c or (native and a == pytest.approx(c, rel=1e-4))
        assert b == d
        assert torch.equal(p, q) or (native and torch.allclose(p, q, rtol=1e-4, atol=1e-6))
    assert run.program is not None, run.explain()
    assert run.calls["eager"] == 0
