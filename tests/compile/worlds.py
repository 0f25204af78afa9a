"""A model, its optimizer and data, and the kinds of steps that train it: material for changes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

KINDS = ("plain", "momentum", "adam", "groups", "rmsprop", "module", "forward", "accumulate",
         "by hand", "clipped")  # fmt: skip


class Net(nn.Module):
    """A little of everything that a forward may look at."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.n, self.d = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.25)
        self.l, self.b = nn.LayerNorm(8), nn.Linear(8, 3)
        self.register_buffer("scale", torch.ones(8))
        self.tied = nn.Parameter(torch.randn(8))
        self.gain, self.mode, self.flags = 1.5, "tanh", [True, False]
        self.table: dict[str, float] = {"k": 2.0}
        self.extra: Any = None

    def forward(self, x: Any) -> Any:
        h = self.n(torch.tanh(self.a(x))) * self.scale * self.gain
        h = torch.tanh(h) if self.mode == "tanh" else torch.relu(h)
        if self.flags[0]:
            h = self.d(h)
        h = self.l(h) * self.table["k"] + self.tied
        if self.extra is not None:
            h = h + self.extra
        return self.b(h)


class World:
    """Everything that a step touches, in one of two runs."""

    def __init__(self, kind: str, compiled: Callable[[Any], Any]) -> None:
        torch.manual_seed(0)
        self.kind = kind
        self.log: list[Any] = []
        self.kept: list[Any] = []
        self.model = Net()
        self.average = copy.deepcopy(self.model)
        self.x: Any = torch.randn(6, 4)
        self.y: Any = torch.randint(0, 3, (6,))
        self.optimizer = self._optimizer(list(self.model.parameters()))
        self.failed = False  # a call has raised: versions aren't compared any more
        if kind == "module":
            self.step = compiled(self.model)
            self.call = self._around
        else:
            steps = {"forward": self._forward, "accumulate": self._accumulate,
                     "by hand": self._by_hand, "clipped": self._clipped}  # fmt: skip
            self.step = self.call = compiled(steps.get(kind, self._train)())

    def _optimizer(self, parameters: list[Any]) -> Any:
        if self.kind == "momentum":
            return optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=0.01)
        if self.kind == "adam":
            return optim.Adam(parameters, lr=0.01, eps=1e-2)
        if self.kind == "groups":
            groups = [
                {"params": parameters[:4], "lr": 0.02},
                {"params": parameters[4:], "weight_decay": 0.1},
            ]
            return optim.AdamW(groups, lr=0.01, eps=1e-2)
        if self.kind == "rmsprop":
            return optim.RMSprop(parameters, lr=0.01, eps=1e-2)
        return optim.SGD(parameters, lr=0.05)

    def _train(self) -> Any:
        model, optimizer = self.model, self.optimizer

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step

    def _around(self, x: Any, y: Any) -> Any:
        self.optimizer.zero_grad()
        out = self.step(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        self.optimizer.step()
        return out.detach(), loss.detach()

    def _forward(self) -> Any:
        model = self.model

        def step(x: Any, y: Any) -> Any:
            with torch.no_grad():
                return model(x)

        return step

    def _accumulate(self) -> Any:
        model = self.model

        def step(x: Any, y: Any) -> Any:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss.detach()

        return step

    def _by_hand(self) -> Any:
        model = self.model

        def step(x: Any, y: Any) -> Any:
            loss = F.cross_entropy(model(x), y)
            wanted = [p for p in model.parameters() if p.requires_grad]
            grads = torch.autograd.grad(loss, wanted)
            with torch.no_grad():
                for p, g in zip(wanted, grads):
                    p.sub_(0.05 * g)
            return loss.detach()

        return step

    def _clipped(self) -> Any:
        model, optimizer, average = self.model, self.optimizer, self.average

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad(set_to_none=False)
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            with torch.no_grad():
                for p, q in zip(average.parameters(), model.parameters()):
                    p.mul_(0.9).add_(q, alpha=0.1)
            return loss.detach()

        return step

    def state(self) -> dict[str, Any]:
        """All that a step may have changed."""
        found: dict[str, Any] = {"log": list(self.log), "random": torch.get_rng_state()}
        for name, p in self.model.named_parameters():
            found[f"gradient of {name}"] = p.grad
            found[f"flags of {name}"] = [p.requires_grad, 0 if self.failed else p._version]
        for name, t in self.model.named_buffers():
            found[f"version of {name}"] = 0 if self.failed else t._version
        found |= {f"model {k}": v for k, v in self.model.state_dict().items()}
        found |= {f"average {k}": v for k, v in self.average.state_dict().items()}
        for k, entry in enumerate(self.optimizer.state.values()):
            found |= {f"state {k} {name}": v for name, v in entry.items()}
        found["kept"] = list(self.kept)
        if isinstance(self.x, torch.Tensor):
            found["x"] = self.x
            found["gradient of x"] = self.x.grad if self.x.is_leaf else None
        return {k: _copied(v) for k, v in found.items()}


def _copied(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.detach().clone()
    return [_copied(y) for y in x] if isinstance(x, list) else x


def equal(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two results or states agree: bit for bit, or within a part of the largest element."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if (a.dtype, a.shape, a.stride(), a.requires_grad) != (
            b.dtype, b.shape, b.stride(), b.requires_grad,
        ):  # fmt: skip
            return False
        a, b = a.detach(), b.detach()
        same = (a == b) | ((a != a) & (b != b))
        if bool(same.all()) or not tolerance or not a.is_floating_point():
            return bool(same.all())
        finite = torch.isfinite(a) & torch.isfinite(b)
        if not bool((same | finite).all()):
            return False
        left, right = a[finite].double(), b[finite].double()
        return float((left - right).abs().max()) <= tolerance * (float(left.abs().max()) + 0.01)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(equal(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= tolerance * (abs(a) + 0.01)
    return type(a) is type(b) and bool(a == b)
