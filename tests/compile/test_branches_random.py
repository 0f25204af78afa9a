"""Random steps with branches, writes, draws, counters and numbers: compiled equals eager."""

import copy
import random
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim


class World:
    """Everything that a random step may touch."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.rule = optim.SGD([*self.layer.parameters(), *self.norm.parameters()], lr=0.05,
                              momentum=0.9)  # fmt: skip
        self.buffer = torch.zeros(3)
        self.table = {"rate": 0.5}
        self.count = 0
        self.best = 1e9
        self.flag = False

    def shown(self) -> list[Any]:
        tensors = [*self.layer.parameters(), *self.norm.parameters(), *self.norm.buffers()]
        found: list[Any] = [t.detach().clone() for t in tensors]
        found += [None if t.grad is None else t.grad.clone() for t in tensors[:4]]
        found += [s.clone() for entry in self.rule.state.values() for s in entry.values()
                  if isinstance(s, torch.Tensor)]  # fmt: skip
        found += [self.buffer.clone(), dict(self.table), self.count, self.best, self.flag]
        return [*found, self.rule.param_groups[0]["lr"]]


STATEMENTS = [
    "h = torch.tanh(w.layer(h))",
    "h = w.norm(h)",
    "h = h * {c}",
    "h = h + torch.rand(3)",
    "h = torch.nn.functional.dropout(h, 0.3)",
    "w.buffer.add_(h.detach().mean(0), alpha=0.1)",
    "w.buffer.mul_(0.5)",
    "w.count += 1",
    "w.table['rate'] = w.table['rate'] * 0.9 + 0.05",
    "h = h * w.table['rate']",
    "h = h / (1 + w.count)",
    "w.best = min(w.best, h.detach().sum().item())",
    "n = h.detach().abs().sum().item() / 7",
    "h = h * (n + 1)",
    "w.flag = not w.flag",
    "out.append(h.detach().sum().item())",
    "w.rule.zero_grad()",
    "(h * h).mean().backward(retain_graph=True) if h.requires_grad else None",
    "w.rule.step()",
    "w.rule.param_groups[0]['lr'] = 0.05 / (1 + w.count % 3)",
    "h = h.clone()\nh.detach()[0].fill_(w.count)",
    "out.append(w.buffer[0].item() * 2)",
]
CONDITIONS = [
    "h.sum() > {c}", "h.detach().max().item() > {c}", "w.buffer.sum() < {c}", "w.count % 3 == 1",
    "w.best < {c}", "n > {c}", "torch.isnan(h).any()", "w.flag", "torch.rand(1).item() < 0.5",
    "k > 4", "k % 4 == 1", "rate > {c}", "w.layer.weight.grad is None", "w.norm.training",
    "(h > 0).all() or h.mean() < {c}", "w.table['rate'] > 0.4 and n < 2",
]  # fmt: skip


def block(rng: random.Random, depth: int) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.3 and depth < 3:
            condition = rng.choice(CONDITIONS).format(c=round(rng.uniform(-1, 1), 2))
            lines.append(f"if {condition}:")
            lines += ["    " + x for x in block(rng, depth + 1)]
            if rng.random() < 0.4:
                lines.append("    return h.detach() * 2, out")
            elif rng.random() < 0.1:
                lines.append("    raise ValueError(w.count)")
            elif rng.random() < 0.5:
                lines.append("else:")
                lines += ["    " + x for x in block(rng, depth + 1)]
        else:
            text = rng.choice(STATEMENTS).format(c=round(rng.uniform(-2, 2), 2))
            lines += text.split("\n")
    return lines


def program(rng: random.Random) -> str:
    lines = ["def step(x, k, rate):", "    h = x", "    n = 0.0", "    out = []"]
    lines += ["    " + x for x in [*block(rng, 0), *block(rng, 0)]]
    return "\n".join([*lines, "    return h.detach(), out"])


def made(text: str, world: World) -> Any:
    space: dict[str, Any] = {"torch": torch, "w": world, "min": min, "ValueError": ValueError}
    exec(compile(text, __file__, "exec"), space)
    return space["step"]


def outcome(step: Any, arguments: Any) -> Any:
    try:
        result, numbers = step(*copy.deepcopy(arguments))
    except ValueError as error:
        return ["raised", str(error)]
    except RuntimeError as error:
        return ["raised", type(error).__name__]
    return [result, numbers]


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)
    if isinstance(a, list):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[x], b[x]) for x in a)
    return type(a) is type(b) and (a == b or (a != a and b != b))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_a_random_step_with_branches_does_what_it_does_eagerly(seed: int) -> None:
    rng = random.Random(seed)
    text = program(rng)
    worlds = World(), World()
    eager, inner = (made(text, world) for world in worlds)
    compiled = torch.compile(inner, options={"native": False})
    states = [torch.get_rng_state()] * 2
    for k in range(40):
        scale = 3.0 if rng.random() < 0.3 else 1.0
        generator = torch.Generator().manual_seed(100 * seed + k)
        arguments = torch.randn(4, 3, generator=generator) * scale, k % 7, rng.random()
        found = []
        for side, step in enumerate((eager, compiled)):
            torch.set_rng_state(states[side])
            found.append(outcome(step, arguments))
            states[side] = torch.get_rng_state()
        assert alike(*found), f"{text}\ncall {k}: {found}"
        shown = [world.shown() for world in worlds]
        assert alike(*shown), f"{text}\nafter call {k}: {shown}\n{compiled.explain()}"
        assert torch.equal(*states), f"{text}\nafter call {k}"
