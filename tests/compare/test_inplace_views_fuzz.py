"""Random programs that take views of views and write through them, on PyTorch and on Rushlight
alike.

A program is a list of steps, each on one of the tensors made so far. After every step both
implementations must agree on values, versions and node names; at the end on the gradients of all
tensors.
"""

from __future__ import annotations

import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

PROGRAMS_PER_SEED = 120
Step = tuple[str, int, Any]

VIEWS: dict[str, Any] = {
    "first": lambda t, k: t[k % t.shape[0]] if t.ndim and t.shape[0] else t[...],
    "tail": lambda t, k: t[k % 2 :] if t.ndim else t[...],
    "every_other": lambda t, k: t[..., ::2] if t.ndim else t[None],
    "column": lambda t, k: t[..., k % t.shape[-1]] if t.ndim and t.shape[-1] else t[...],
    "turned": lambda t, k: t.transpose(0, -1) if t.ndim else t.unsqueeze(0),
    "flat": lambda t, k: t.view(-1),
    "reshaped": lambda t, k: t.reshape(-1),
    "unsqueezed": lambda t, k: t.unsqueeze(k % (t.ndim + 1)),
    "squeezed": lambda t, k: t.squeeze(),
    "diagonal": lambda t, k: t.diagonal() if t.ndim > 1 else t[...],
    "narrowed": lambda t, k: t.narrow(0, 0, 1) if t.ndim and t.shape[0] else t[...],
    "unfolded": lambda t, k: t.unfold(-1, 1, 1) if t.ndim and t.shape[-1] else t[...],
    "window": lambda t, k: t.as_strided((1,), (1,), k % (t._base if t._is_view() else t).numel()),
    "pieces": lambda t, k: t.split(1)[0] if t.ndim and t.shape[0] else t[...],
    "unbound": lambda t, k: t.unbind()[k % t.shape[0]] if t.ndim and t.shape[0] else t[...],
    "detached": lambda t, k: t.detach(),
    "named_detached": lambda t, k: t.detach()[..., None],
    "copied": lambda t, k: t.clone(),
    "scaled": lambda t, k: t * 2,
}  # fmt: skip
WRITES: dict[str, Any] = {
    "mul_": lambda t, w: t.mul_(w),
    "add_": lambda t, w: t.add_(w * 2),
    "number": lambda t, w: t.mul_(3),
    "zero_": lambda t, w: t.zero_(),
    "fill_": lambda t, w: t.fill_(w),
    "copy_": lambda t, w: t.copy_(w),
    "set_first": lambda t, w: t.__setitem__(0, w),
    "set_all": lambda t, w: t.__setitem__(slice(None), w * w),
    "set_list": lambda t, w: t.__setitem__([0], w),
}


def program(rng: random.Random) -> list[Step]:
    steps: list[Step] = []
    for _ in range(rng.randint(2, 7)):
        if rng.random() < 0.55:
            name = rng.choice(list(VIEWS))
            hidden = rng.random() < 0.08
            detail: Any = rng.randrange(4)
        else:
            name = rng.choice(list(WRITES))
            hidden = rng.random() < 0.08
            detail = rng.random() < 0.6
        steps.append(("no_grad " + name if hidden else name, rng.randrange(100), detail))
    return steps


def names(t: Any) -> list[str]:
    found: list[str] = []
    try:
        node = t.grad_fn
    except RuntimeError as error:  # a view that can't follow what was done to its base
        return [str(error)]
    while node is not None and len(found) < 6:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def state(tensors: list[Any]) -> list[Any]:
    return [
        (t.detach().numpy().tolist(), t._version, names(t), t.requires_grad, t._is_view())
        for t in tensors
    ]


def run(
    steps: list[Step], grad: bool, shape: tuple[int, ...], implementation: ModuleType
) -> list[Any]:
    """What one implementation shows after every step, and the gradients at the end."""
    values = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    x = implementation.from_numpy(values).requires_grad_(grad)
    w = implementation.tensor(1.5, dtype=implementation.float64, requires_grad=True)
    plain = implementation.tensor(2.5, dtype=implementation.float64)
    tensors = [x * 1]
    unrecorded: set[int] = set()  # views taken under no_grad: they may be written, nothing else
    seen: list[Any] = []
    for name, which, detail in steps:
        hidden = name.startswith("no_grad ")
        name = name.removeprefix("no_grad ")
        place = which % len(tensors)
        t = tensors[place]
        if place in unrecorded and (name in VIEWS or name.startswith("set_")):
            continue
        try:
            with implementation.set_grad_enabled(not hidden):
                if name in VIEWS:
                    tensors.append(VIEWS[name](t, detail))
                    if hidden:
                        unrecorded.add(len(tensors) - 1)
                else:
                    WRITES[name](t, w if detail else plain)
        except (RuntimeError, IndexError, TypeError) as error:
            seen.append((type(error).__name__, str(error)))
        seen.append(state(tensors))
    for t in tensors:
        try:
            if not t.requires_grad or t.grad_fn is None:
                continue
            grads = implementation.autograd.grad(
                (t * t).sum(),
                [s for s in (x, w) if s.requires_grad],
                retain_graph=True,
                allow_unused=True,
            )
            seen.append([None if g is None else g.numpy().tolist() for g in grads])
        except RuntimeError as error:
            seen.append(str(error))
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_on_views_agree(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(PROGRAMS_PER_SEED):
        steps = program(rng)
        grad = rng.random() < 0.8
        shape = rng.choice([(3,), (2, 3), (3, 3), (2, 1, 3), (1,), (2, 2, 2)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert run(steps, grad, shape, rushlight) == run(steps, grad, shape, torch), (
                steps,
                shape,
            )
