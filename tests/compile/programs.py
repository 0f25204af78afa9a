"""Random steps: operations of many kinds, writes in place, state, backward and an optimizer.

`Plan(seed)` draws a program over a pool of values; what eager can't run is left out. `Twin` holds
the state that a plan's step works on.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

INDEX = torch.tensor([0, -1, 0])


def written(*writes: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A copy that is written in place."""

    def apply(x: Any) -> Any:
        y = x.clone()
        for write in writes:
            write(y, x)
        return y

    return apply


def assigned(where: Any, what: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def write(y: Any, x: Any) -> None:
        y[where] = what(x)

    return write


UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda x: -x, "abs": torch.abs, "exp": lambda x: x.clamp(-4, 4).exp(),
    "log": lambda x: (x.abs() + 0.5).log(), "sqrt": lambda x: (x.abs() + 0.1).sqrt(),
    "rsqrt": lambda x: (x.abs() + 0.3).rsqrt(), "sin": torch.sin, "cos": torch.cos,
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "elu": F.elu,
    "softplus": F.softplus, "mish": F.mish, "leaky": F.leaky_relu, "hardswish": F.hardswish,
    "logsigmoid": F.logsigmoid, "tanhshrink": F.tanhshrink, "square": torch.square,
    "cube": lambda x: x**3 * 0.1, "power": lambda x: (x.abs() + 0.1) ** 1.5,
    "reciprocal": lambda x: (x.abs() + 0.5).reciprocal(), "erf": torch.erf,
    "expm1": lambda x: x.clamp(-2, 2).expm1(), "log1p": lambda x: x.abs().log1p(),
    "atan": torch.atan, "clamp": lambda x: x.clamp(-1, 0.5), "sign": lambda x: x * x.sign(),
    "plus": lambda x: x + 1, "from": lambda x: 2 - x, "under": lambda x: 1 / (x.abs() + 1),
    "sum": torch.sum, "sum 0": lambda x: x.sum(0), "sum row": lambda x: x.sum(-1, keepdim=True),
    "mean": lambda x: x.mean(-1), "mean 0": lambda x: x.mean(0, keepdim=True),
    "amax": lambda x: x.amax(-1), "max 0": lambda x: x.max(0)[0], "min": lambda x: x.min(-1)[0],
    "product": lambda x: (x * 0.1 + 1).prod(-1), "variance": lambda x: x.var(-1),
    "norm": lambda x: x.norm() * 0.1, "logsumexp": lambda x: x.logsumexp(-1),
    "cumsum": lambda x: x.cumsum(-1) * 0.3, "softmax": lambda x: x.softmax(-1),
    "softmax 0": lambda x: x.softmax(0), "log_softmax": lambda x: x.log_softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]), "normal": lambda x: F.normalize(x, dim=-1),
    "t": lambda x: x.transpose(0, -1), "flat": lambda x: x.reshape(-1),
    "column": lambda x: x.contiguous().view(-1, 1), "unsqueeze": lambda x: x.unsqueeze(0),
    "last": lambda x: x.unsqueeze(-1), "squeeze": torch.squeeze, "slice": lambda x: x[1:],
    "steps": lambda x: x[..., ::2], "select": lambda x: x[0], "column -1": lambda x: x[..., -1],
    "flip": lambda x: x.flip(0), "roll": lambda x: x.roll(1, -1),
    "expand": lambda x: x.expand(3, *x.shape), "repeat": lambda x: x.repeat(2, 1),
    "chunk": lambda x: x.chunk(2, -1)[0], "split": lambda x: x.split(2, 0)[-1],
    "diagonal": torch.diagonal, "tril": torch.tril, "triu": lambda x: x.triu(1),
    "pad": lambda x: F.pad(x, (1, 2)), "clone": torch.clone, "detach": torch.detach,
    "permute": lambda x: x.permute(*reversed(range(x.dim()))),
    "unfold": lambda x: x.unfold(-1, 2, 1),
    "double": lambda x: x.double().sin().to(x.dtype), "above": lambda x: (x > 0).to(x.dtype) * x,
    "masked": lambda x: x.masked_fill(x < -0.5, 0.25),
    "where": lambda x: torch.where(x > 0.1, x, x * 0.3),
    "indexed": lambda x: x[INDEX], "selected": lambda x: x.index_select(0, INDEX.abs()),
    "gathered": lambda x: x.gather(-1, torch.zeros(x.shape, dtype=torch.int64)),
    "added": lambda x: torch.zeros_like(x).index_add(
        0, torch.zeros(x.shape[0], dtype=torch.int64), x),
    "ones": lambda x: x + torch.ones_like(x), "arange": lambda x: x * torch.arange(x.shape[-1]),
    "outer": lambda x: torch.outer(x.flatten()[:3], x.flatten()[:4]),
    "first": lambda x: x.flatten()[0] * x,
    "distances": lambda x: (x[:, None] - x[None]).square().sum(-1),
    "embedding": lambda x: F.embedding(torch.tensor([[0, 1], [1, 1]]), x), "glu": F.glu,
    "gram": lambda x: x @ x.transpose(-1, -2) * 0.1, "dropout": lambda x: F.dropout(x, 0.3),
    "noise": lambda x: x + 0.1 * torch.randn_like(x), "offset": lambda x: x.sum((0, -1)),
    "relu_": lambda x: (x * 1.5).relu_(), "twice": written(lambda y, x: y.add_(1).mul_(x)),
    "write slice": written(assigned((..., slice(0, 1)), lambda x: x[..., -1:] * 2)),
    "write view": written(lambda y, x: y.view(-1)[::2].mul_(0.5), lambda y, x: y.add_(1)),
    "write row": written(assigned(0, lambda x: x[-1]), assigned(-1, lambda x: x[0] + 1)),
    "zero": written(lambda y, x: y[0].zero_()),
    "fill": written(lambda y, x: y.select(-1, 0).fill_(0.2)),
    "write turned": written(lambda y, x: y.transpose(0, -1)[0].sub_(1.0)),
    "write mask": written(lambda y, x: y.masked_fill_(x > 0, 0.5)),
    "write index": written(assigned(INDEX[:1], lambda x: x[1])),
    "write parts": written(lambda y, x: y[..., 1:2].add_(y[..., :1].mul_(2))),
    "write expanded": written(lambda y, x: y.mul_(x.detach()[..., :1])),
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": lambda x, y: x / (1 + y.abs()),
    "maximum": torch.maximum, "minimum": torch.minimum,
    "where": lambda x, y: torch.where(x > 0, x, y),
    "mm": lambda x, y: x @ y * 0.3, "mm t": lambda x, y: x @ y.transpose(0, -1) * 0.3,
    "t mm": lambda x, y: x.transpose(0, -1) @ y * 0.3, "cat": lambda x, y: torch.cat([x, y]),
    "cat -1": lambda x, y: torch.cat([x, y], -1), "stack": lambda x, y: torch.stack([x, y]),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
    "add part": lambda x, y: torch.add(x, y, alpha=-0.7), "linear": F.linear,
    "power": lambda x, y: (x.abs() + 0.5) ** y.clamp(-2, 2), "mse": F.mse_loss, "l1": F.l1_loss,
    "atan2": lambda x, y: torch.atan2(x, y.abs() + 0.5),
    "hypot": lambda x, y: torch.hypot(x + 2, y),
    "bce": lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    "cosine": lambda x, y: F.cosine_similarity(x, y, dim=-1),
    "addmm": lambda x, y: torch.addmm(x, x, y) * 0.2,
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "add_": lambda x, y: (x * 1).add_(y, alpha=0.5), "mul_": lambda x, y: x.clone().mul_(y),
    "copy_": lambda x, y: x.clone().copy_(y), "mixed": lambda x, y: (x * y + x).tanh() * (x - y),
    "entropy": lambda x, y: F.cross_entropy(x, torch.arange(x.shape[0]) % x.shape[1]) * y,
    "attention": lambda x, y: F.scaled_dot_product_attention(
        x[None], y[None], x[None], is_causal=True)[0],
    "bias": lambda x, y: F.linear(x, y, y.sum(-1)) * 0.3,
}  # fmt: skip
#: Writes of what lives longer than the step: (state, a, b).
EFFECTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "scale a": lambda s, a, b: a.mul_(0.9), "a from b": lambda s, a, b: a.add_(b, alpha=0.1),
    "row of a": lambda s, a, b: a.__setitem__(0, b[-1]), "relu a": lambda s, a, b: a.relu_(),
    "column of b": lambda s, a, b: b.t()[0].add_(0.3), "count": lambda s, a, b: s.count.add_(1),
    "buffer": lambda s, a, b: s.buffer.add_(a.detach().mean(0), alpha=0.1),
    "buffer from b": lambda s, a, b: s.buffer.copy_(b[0]),
    "part of buffer": lambda s, a, b: s.buffer[1:].mul_(0.5),
    "view of buffer": lambda s, a, b: s.window.mul_(1.1),
    "average": lambda s, a, b: s.average.lerp_(s.w.detach(), 0.1),
}  # fmt: skip
OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda p: optim.SGD(p, lr=0.01),
    "momentum": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.01),
    "adam": lambda p: optim.Adam(p, lr=0.01, eps=1e-2), "none": lambda p: None,
    "by hand": lambda p: None,
}  # fmt: skip


class State:
    """What a step works on beside its arguments."""

    def __init__(self, plan: Plan) -> None:
        torch.manual_seed(plan.seed)
        n, dtype = plan.n, plan.dtype
        self.w = nn.Parameter(torch.randn(n, n, dtype=dtype))
        self.v = nn.Parameter(torch.randn(n, dtype=dtype))
        self.buffer = torch.randn(n, dtype=dtype)
        self.window = self.buffer[:2]
        self.count = torch.zeros((), dtype=torch.int64)
        self.average = torch.zeros(n, n, dtype=dtype)
        self.optimizer = OPTIMIZERS[plan.optimizer]([self.w, self.v])

    def tensors(self) -> list[Any]:
        """All of it, in order."""
        found = [self.w, self.v, self.buffer, self.count, self.average, self.w.grad, self.v.grad]
        if self.optimizer is not None:
            for entry in self.optimizer.state.values():
                found += [x for _, x in sorted(entry.items()) if isinstance(x, torch.Tensor)]
        return found


class Plan:
    """A random program."""

    def __init__(self, seed: int, length: int | None = None) -> None:
        draw = random.Random(seed)
        self.seed = seed
        self.n = draw.choice([2, 3, 4, 5, 8, 16, 17, 33])
        self.dtype = draw.choice([torch.float32, torch.float64])
        self.optimizer = draw.choice(list(OPTIMIZERS))
        self.gives = draw.choice(["all", "loss", "number"])
        self.items: list[tuple[Any, ...]] = []
        state = State(self)
        a, b = (torch.randn(self.n, self.n, dtype=self.dtype) for _ in range(2))
        values = [a, b, state.w, state.v, state.buffer]
        for _ in range(length or draw.choice([3, 6, 10, 16])):
            kind = draw.choices(["unary", "binary", "effect"], [60, 32, 8])[0]
            i, j = draw.randrange(len(values)), draw.randrange(len(values))
            table: Any = {"unary": UNARY, "binary": BINARY, "effect": EFFECTS}[kind]
            item = (kind, draw.choice(list(table)), i, j)
            try:
                made = self._made(item, values, state, a, b)
            except (RuntimeError, IndexError, ValueError, TypeError):
                continue  # shapes that don't go together
            if made is None or 0 < made.numel() < 100_000:
                self.items.append(item)
                values += [] if made is None else [made]
        while not self._runs():
            self.items.pop()

    def _runs(self) -> bool:
        """Whether eager runs it: a write may come before a backward that needs the value."""
        try:
            self.step(State(self))(*self.data(0))
        except (RuntimeError, IndexError, ValueError, TypeError):
            return False
        return True

    def _made(self, item: Any, values: Any, state: Any, a: Any, b: Any) -> Any:
        kind, name, i, j = item
        if kind == "effect":
            with torch.no_grad():
                EFFECTS[name](state, a, b)
            return None
        return UNARY[name](values[i]) if kind == "unary" else BINARY[name](values[i], values[j])

    def step(self, state: State) -> Any:
        """The program as a function of two matrices."""
        items, made, optimizer = self.items, self._made, state.optimizer
        by_hand, gives, learns = self.optimizer == "by hand", self.gives, self.optimizer != "none"

        def step(a: Any, b: Any) -> Any:
            if by_hand:
                state.w.grad = state.v.grad = None
            elif optimizer is not None:
                optimizer.zero_grad()
            values = [a, b, state.w, state.v, state.buffer]
            for item in items:
                found = made(item, values, state, a, b)
                if found is not None:
                    values.append(found)
            loss = sum(x.to(a.dtype).mean() for x in values[5:]) + state.w.sum() * 0.01
            loss = loss + state.v.sum() * 0.0
            if learns:
                loss.backward()
            if by_hand:
                with torch.no_grad():
                    for p in (state.w, state.v):
                        p -= 0.01 * p.grad
            elif optimizer is not None:
                optimizer.step()
            if gives == "number":
                return loss.item()
            return [x.detach() for x in values[5:]] if gives == "all" else loss.detach()

        return step

    def data(self, call: int) -> tuple[Any, Any]:
        """Arguments of a call: of the last ones some are infinite, turned or overlap."""
        source = torch.Generator().manual_seed(self.seed * 10 + call)
        n = self.n
        base = torch.randn(2 * n, n, dtype=self.dtype, generator=source)
        if call == 4:
            return base[:n].t().contiguous().t(), base[n:]
        if call == 5 and self.seed % 3 == 0:
            base[0, 0], base[1, -1] = float("inf"), float("nan")
        if call == 6:
            return base[:n], base[1 : n + 1]
        return base[:n].clone(), base[n:].clone()
