"""What changes between two calls of a random step, as source text that runs in its world."""

from __future__ import annotations

import random
from typing import Any

from tests.attack.vocabulary import ARGUMENTS

#: What an argument may be replaced by, beside those of another kind.
SPECIAL = [
    "kept[0]", "kept[1]", "model.mean", "model.lin.weight.detach()", "leaf", "leaf.detach()",
    "model.lin.bias",
    "read_only(draw({m}, {n}, seed={s}))", "torch.zeros({m}, {n}, dtype=DTYPE)",
    "torch.ones({m}, {n}, dtype=DTYPE)",
    "torch.full(({m}, {n}), float('nan'), dtype=DTYPE)", "draw({m}, {n}, seed={s}) * 100",
    "draw({m}, {n}, seed={s}) / 0",
    "draw({m}, {n}, seed={s}).double()", "draw({m}, {n}, seed={s}).float()",
    "-draw({m}, {n}, seed={s}).abs()",
    "draw({m}, {n}, 2, seed={s})[..., 0]", "draw({m}, {n}, seed={s}).flip(0)",
    "nn.Parameter(draw({m}, {n}, seed={s}))",
    "draw({m}, {n}, seed={s}).requires_grad_() * 2", "torch.arange(6).reshape(2, 3)",
    "draw({m}, {n}, seed={s}).bfloat16()",
    "read_only(draw({n}, seed={s}))", "2.5", "[1.0, 2.0]", "None",
]  # fmt: skip
INDICES = [
    "whole(4, seed={s})", "whole(4, seed={s})", "whole(4, seed={s}, below=2)",
    "whole(3, seed={s}, below=9)",
    "-whole(4, seed={s})", "whole(0)", "torch.tensor([3])", "whole(4, seed={s}).int()",
    "torch.zeros(4, dtype=torch.int64)",
    "torch.ones(4, dtype=torch.int64)", "read_only(whole(4, seed={s}))",
    "whole(2, 2, seed={s})",
    "whole(4, seed={s}) > 1",
]  # fmt: skip
TOGETHER = [
    "b = a", "base = draw(9, {n}, seed={s})\na, b = base[:{m}], base[1 : {m} + 1]",
    "a, b = b, a", "b = a.detach()",
    "base = draw(9, {n}, seed={s})\na, b = base[:4], base[4:8]", "b = a[:1]",
    "kept[0] = a.detach()", "a = a.detach()[..., 0]",
    "base = draw(24, seed={s})\na, b = base[::2], base[1::2]", "leaf.data = a.detach()",
    "b = a.t()", "a = b.view(-1)",
]  # fmt: skip
WORLD = [
    "GAIN = -0.5", "GAIN = 2", "GAIN = torch.ones(())", "del thing.gain", "thing.gain = 0.25",
    "thing.gain = 3", "thing.mode = 'add'",
    "thing.shift = 1.0", "thing.shift = torch.ones(())", "thing.bonus = 5.0", "del thing.bonus",
    "Thing.scale = 2.0",
    "thing.__class__ = Other", "thing = Thing()", "thing.act = lambda x: x * 7",
    "thing.new = 1", "Thing.act = Other.act",
    "helper = other_helper", "helper.__code__ = other_helper.__code__", "knobs['n'] = 3",
    "knobs['n'] = 0", "knobs['rate'] = -1.0",
    "knobs['on'] = not knobs['on']", "del knobs['on']", "knobs['extra'] = 0.5",
    "knobs = dict(knobs)", "knobs = {'n': 1, 'rate': 1}",
    "items[0] = -2.0", "items[2] = 3.0", "items.append(4)", "items.pop()", "items = [0.5]",
    "items[1] = True", "items.reverse()",
    "model.eval()", "model.train()", "model.drop.eval()", "model.drop.p = 0.9",
    "model.depth = 2", "model.depth = 0", "model.act = 'relu'",
    "model.lin = nn.Linear(4, 4).to(DTYPE)", "model.lin = nn.Identity()",
    "model.lin.weight = nn.Parameter(torch.ones(4, 4, dtype=DTYPE))",
    "model.lin.weight.requires_grad_(False)", "model.requires_grad_(False)",
    "model.requires_grad_(True)", "model.lin.bias = None",
    "model.lin.weight.data = draw(4, 4, seed={s}).t()", "model.lin.weight.data.mul_(0.5)",
    "model.free.data = kept[0]",
    "model.norm.momentum = None", "model.norm.eval()", "model.norm.track_running_stats = False",
    "model.mean = torch.ones(4, dtype=DTYPE)",
    "del model.mean", "model.register_buffer('mean', torch.zeros(4, dtype=DTYPE))",
    "model.mean.fill_(2)", "model.double()", "model.float()",
    "model.lin.register_forward_hook(lambda m, i, o: o * 2)",
    "model.lin.forward = lambda x: x + 1", "model.zero_grad()",
    "model.load_state_dict({k: torch.ones_like(v) for k, v in model.state_dict().items()})",
    "model = Net().to(DTYPE)",
    "leaf.requires_grad_(False)", "leaf.requires_grad_(True)", "leaf.grad = None",
    "leaf.grad = torch.ones_like(leaf)",
    "leaf.grad = draw(4, seed={s}).expand(4)", "leaf = draw(4, seed={s}).requires_grad_()",
    "leaf.data = draw(8, seed={s})[::2]",
    "leaf.register_hook(lambda g: g * 2)", "leaf.data.numpy().flags.writeable = False",
    "leaf.grad = kept[0]",
    "kept[0] = draw(4, seed={s})", "kept[0] = draw(2, seed={s})",
    "kept[0] = read_only(draw(4, seed={s}))", "kept[0] = kept[0].double()",
    "kept[0] = leaf", "kept[0].data = draw(4, seed={s})",
    "kept[1] = kept[1].t().contiguous().t()", "kept[0].fill_(0)", "kept.reverse()",
    "memory['last'] = 2.0", "memory.clear()", "memory['last'] = draw(4, seed={s})",
    "raw.__defaults__ = (0.5,)",
    "raw.__closure__[0].cell_contents = -2.0",
    "raw.__closure__[0].cell_contents = torch.ones(())",
    "optimizer.param_groups[0]['lr'] = 0.2", "optimizer.param_groups[0]['weight_decay'] = 0.5",
    "optimizer.state.clear()",
    "optimizer.param_groups[0]['params'].pop()", "optimizer.zero_grad()",
    "optimizer.load_state_dict(optimizer.state_dict())",
    "optimizer.param_groups[0]['maximize'] = True", "torch.manual_seed({s})",
    "optimizer.zero_grad = lambda *a, **k: None",
]  # fmt: skip
SETTINGS: list[dict[str, Any]] = [
    {"grad": "no"}, {"grad": "yes"}, {"grad": "inference"}, {"default": "float64"},
    {"default": "float32"}, {"thread": True},
    {"threads": 1}, {"threads": 2}, {"autocast": True},
]  # fmt: skip


class Given:
    """How the arguments of the next call are made."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.m, self.n = draw.choice([1, 2, 3, 4, 5]), draw.choice([1, 2, 3, 4, 7])
        self.texts = {"a": draw.choice(ARGUMENTS), "b": draw.choice(ARGUMENTS), "idx": INDICES[0]}
        self.seed = draw.randrange(1 << 20)

    def text(self) -> str:
        """Statements that make them, with numbers of their own."""
        return "\n".join(f"{name} = {self.filled(text)}" for name, text in self.texts.items())

    def filled(self, text: str) -> str:
        """A text with its numbers."""
        self.seed += 1
        for name, number in (("{m}", self.m), ("{n}", self.n), ("{s}", self.seed)):
            text = text.replace(name, str(number))
        return text

    def change(self) -> str:
        """Changes how they are made, or what the world is; a statement for this call alone."""
        kind = self.draw.choices(
            ["a", "b", "idx", "size", "together", "world"], [5, 5, 4, 2, 3, 14]
        )[0]
        if kind == "size":
            self.m, self.n = self.draw.choice([1, 2, 3, 4, 5]), self.draw.choice([1, 2, 3, 4, 7])
        elif kind == "idx":
            self.texts["idx"] = self.draw.choice(INDICES)
        elif kind in ("a", "b"):
            self.texts[kind] = self.draw.choice([*SPECIAL, *ARGUMENTS])
        else:
            return self.filled(self.draw.choice(TOGETHER if kind == "together" else WORLD))
        return ""
