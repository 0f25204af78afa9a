"""A random program: a world, a step in it, and what changes between the step's calls."""

from __future__ import annotations

import random
import warnings
from textwrap import indent
from typing import Any

import rushlight as torch
from tests.attack.changes import SETTINGS, Given
from tests.attack.vocabulary import (
    ENDINGS,
    EXPRESSIONS,
    OPTIMIZERS,
    PAIRS,
    PRELUDE,
    RETURNS,
    STATEMENTS,
)

ONE = [x.strip() for line in EXPRESSIONS.strip().splitlines() for x in line.split(" | ")]
TWO = [x.strip() for line in PAIRS.strip().splitlines() for x in line.split(" | ")]
#: What no program can hold: most steps do without.
WILD = (
    "nonzero", "masked_select", "] > 0]", "unique", "one_hot(idx)", "bincount", "equal(", "round(",
    "int(", "float(", "half()", "append", "last", "full((2,)", "> 0)[0]", "multinomial",
    "repeat_interleave(idx)", "torch.bernoulli(", "torch.normal(", "argmax()]",
)  # fmt: skip
#: Calls before anything changes.
WARM = 4
_STEP = """
def make(closed):
    def step(a, b, idx, default=2.0):
        held = closed
{body}
    return step

raw = make(closed)
optimizer = {optimizer}
"""


class Turn:
    """What is done before one call, and under which settings it is made."""

    def __init__(self, before: str, change: str, settings: dict[str, Any], backward: bool) -> None:
        self.before = before
        self.change = change
        self.settings = settings
        self.backward = backward  # through results, by the caller

    def __repr__(self) -> str:
        return "; ".join(x for x in (self.before, self.change, str(self.settings or "")) if x)


class Program:
    """A program that is the same for the same seed."""

    def __init__(self, seed: int, changes: int = 10) -> None:
        draw = random.Random(seed)
        self.seed = seed
        self.dtype = draw.choice(["float32", "float64", "float64"])
        given = Given(draw)
        first = given.text()
        self.prelude = f"SEED, DTYPE_NAME = {seed % 1000}, '{self.dtype}'\n" + PRELUDE.replace(
            "torch.manual_seed(SEED)", f"DTYPE = torch.{self.dtype}\ntorch.manual_seed(SEED)"
        )
        self.optimizer = draw.choice(OPTIMIZERS)
        self.body = self._body(draw, first)
        self.source = _STEP.format(body=indent(self.body, " " * 8), optimizer=self.optimizer)
        backward = draw.random() < 0.5
        self.turns = [Turn(first, "", {}, backward)]
        self.turns += [Turn(given.text(), "", {}, backward) for _ in range(WARM - 1)]
        for _ in range(changes):
            settings = draw.choice(SETTINGS) if draw.random() < 0.15 else {}
            change = given.change()
            self.turns.append(Turn(given.text(), change, settings, backward))
            self.turns.append(Turn(given.text() if draw.random() < 0.7 else "", "", {}, backward))

    def text(self) -> str:
        """The program for reading."""
        turns = "\n".join(f"  {k}: {turn}" for k, turn in enumerate(self.turns))
        return f"{self.source}\n{turns}"

    def namespace(self) -> dict[str, Any]:
        """The world as it begins."""
        made: dict[str, Any] = {"__name__": "attacked"}
        exec(compile(self.prelude, f"<world {self.seed}>", "exec"), made)
        return made

    def _body(self, draw: random.Random, first: str) -> str:
        """Statements that an eager run accepts, as a rule."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            world = self.namespace()
            exec(first, world)
            world |= {"default": 2.0, "held": 0.75, "values": []}
            lines, names = ["values = []"], ["a", "b"]
            tame = draw.random() < 0.7
            for k in range(draw.choice([2, 3, 4, 6, 9])):
                statement = _statement(draw, names, f"v{k}", tame)
                if not _runs(statement, world, f"v{k}") and draw.random() > 0.03:
                    continue
                lines.append(f"{statement}\nvalues.append(v{k})")
                names.append(f"v{k}")
            lines.append(
                "loss = leaf.sum() * 0.01 + sum(v.to(DTYPE).clamp(-9, 9).mean() for v in values)"
            )
            for options in (ENDINGS, RETURNS):
                lines.append(draw.choice(options))
        return "\n".join(lines)


def _statement(draw: random.Random, names: list[str], made: str, tame: bool) -> str:
    while True:
        text = _any_statement(draw, names, made)
        if not tame or not any(x in text for x in WILD):
            return text


def _any_statement(draw: random.Random, names: list[str], made: str) -> str:
    kind = draw.choices(["one", "two", "statement"], [6, 2, 3])[0]
    x, y = draw.choice(names[-4:]), draw.choice(names)
    if kind == "statement":
        return draw.choice(STATEMENTS).format(v=made, x=x, y=y)
    expression = draw.choice(ONE if kind == "one" else TWO).format(x=x, y=y)
    return f"{made} = {expression}"


def _runs(statement: str, world: dict[str, Any], made: str) -> bool:
    """Whether an eager run accepts a statement, and makes a tensor that isn't large."""
    try:
        exec(statement, world)
    except Exception:
        return False
    x = world.get(made)
    return isinstance(x, torch.Tensor) and x.numel() < 5000 and not x.is_complex()
