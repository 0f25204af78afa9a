"""Random indexing expressions, read, written and differentiated on PyTorch and on Rushlight
alike.

An index is described once, as plain data, and built for each implementation. Both must give the
same values, shapes, strides, views, node names, versions and gradients, or the same error in the
same words.
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

CASES_PER_SEED = 500
Item = tuple[str, Any]


# ---- descriptions ------------------------------------------------------------------------------
def shape_of(rng: random.Random) -> tuple[int, ...]:
    """A shape of up to four dimensions, sometimes with an empty one."""
    return tuple(rng.choice((1, 2, 3, 3, 4, 0)) if rng.random() < 0.3 else rng.randint(1, 4)
                 for _ in range(rng.choice((0, 1, 2, 2, 3, 3, 4))))  # fmt: skip


def places(rng: random.Random, n: int, count: int) -> list[int]:
    """Places of a dimension of size `n`, now and then one that isn't there."""
    if rng.random() < 0.02 or n == 0:
        return [rng.randint(-6, 6) for _ in range(count)]
    return [rng.randint(-n, n - 1) for _ in range(count)]


def bound(rng: random.Random, n: int) -> int | None:
    return None if rng.random() < 0.4 else rng.randint(-n - 1, n + 1)


def item_of(rng: random.Random, n: int, after: int | None, length: int) -> Item:
    """One item for a dimension of size `n`, followed by one of size `after`."""
    kind = rng.random()
    if kind < 0.28:
        return "int", places(rng, n, 1)[0]
    if kind < 0.55:
        step = rng.choice((None, None, 1, 2, 3)) if rng.random() < 0.97 else rng.choice((0, -1))
        return "slice", (bound(rng, n), bound(rng, n), step)
    if kind < 0.62:
        return "list", places(rng, n, length)
    if kind < 0.76:
        return "tensor", places(rng, n, length)
    if kind < 0.80:
        return "matrix", [places(rng, n, length), places(rng, n, length)]
    if kind < 0.83:
        return "zero_dim", places(rng, n, 1)[0]
    if kind < 0.86:
        return "array", places(rng, n, length)
    if kind < 0.92:
        size = n if rng.random() < 0.97 else n + 1
        return "mask", [rng.random() < 0.5 for _ in range(size)]
    if kind < 0.95 and after is not None:
        return "mask", [[rng.random() < 0.5 for _ in range(after)] for _ in range(n)]
    return "bool", rng.random() < 0.6


def index_of(rng: random.Random, shape: tuple[int, ...]) -> list[Item]:
    """An index for a tensor of a shape."""
    items: list[Item] = []
    length = rng.randint(0, 3) if rng.random() < 0.2 else rng.randint(1, 3)
    d = 0
    dots = False
    last = rng.randint(0, len(shape)) + (rng.random() < 0.02)
    while d < last:
        if rng.random() < 0.12:
            items.append(("none", None))
        if not dots and rng.random() < 0.1:
            items.append(("dots", None))
            dots = True
            d = max(d, len(shape) - rng.randint(0, 2))
            continue
        n = shape[d] if d < len(shape) else 2
        after = shape[d + 1] if d + 1 < len(shape) else None
        item = item_of(rng, n, after, length)
        items.append(item)
        d += 2 if item[0] == "mask" and item[1] and isinstance(item[1][0], list) else 1
        if item[0] == "bool":
            d -= 1
    if rng.random() < 0.1 or not items:
        items.append((rng.choice(("none", "dots")) if not dots else "none", None))
    return items


def built(items: list[Item], implementation: ModuleType) -> Any:
    """The index itself."""
    made: list[Any] = []
    for kind, what in items:
        if kind == "slice":
            made.append(slice(*what))
        elif kind in ("tensor", "matrix", "zero_dim"):
            made.append(implementation.tensor(what, dtype=implementation.int64))
        elif kind == "mask":
            made.append(implementation.from_numpy(np.array(what, dtype=bool)))
        elif kind == "array":
            made.append(np.array(what, dtype=np.int64))
        elif kind == "dots":
            made.append(...)
        else:
            made.append(what)
    return made[0] if len(made) == 1 else tuple(made)


LAYOUTS = {
    "plain": lambda x: x * 1,
    "transposed": lambda x: (x * 1).transpose(0, -1) if x.ndim > 1 else x * 1,
    "every_other": lambda x: (x * 1)[::2] if x.ndim else x * 1,
    "flattened": lambda x: (x * 1).reshape(-1),
}


# ---- what happens ------------------------------------------------------------------------------
def leaf(
    shape: tuple[int, ...], implementation: ModuleType, start: float, grad: bool = True
) -> Any:
    count = int(np.prod(shape))
    values = (np.arange(count, dtype=np.float64) * 0.5 + start).reshape(shape)
    return implementation.from_numpy(values).requires_grad_(grad)


def chain(t: Any) -> list[str]:
    names: list[str] = []
    node = t.grad_fn
    while node is not None and len(names) < 8:
        names.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def numbers(t: Any) -> Any:
    return None if t is None else t.detach().numpy().tolist()


def told(t: Any) -> dict[str, Any]:
    strides = tuple(s for s, n in zip(t.stride(), t.shape) if n > 1) if 0 not in t.shape else ()
    return {"shape": tuple(t.shape), "values": numbers(t), "names": chain(t), "version": t._version,
            "view": t._is_view(), "strides": strides if t._is_view() else ()}  # fmt: skip


def weighted(t: Any, implementation: ModuleType) -> Any:
    weights = leaf(tuple(t.shape), implementation, 0.25, grad=False)
    return (t * t * weights).sum()


def reading(case: dict[str, Any], implementation: ModuleType) -> Any:
    x = leaf(case["shape"], implementation, 1.0)
    y = LAYOUTS[case["layout"]](x)
    index = built(case["items"], implementation)
    r = y[index]
    seen = told(r)
    with implementation.no_grad():
        seen["plain"] = numbers(y[index])
    (g,) = implementation.autograd.grad(weighted(r, implementation), x)
    seen["gradient"] = numbers(g)
    return seen


def writing(case: dict[str, Any], implementation: ModuleType) -> Any:
    x = leaf(case["shape"], implementation, 1.0, case["grad"])
    y = LAYOUTS[case["layout"]](x)
    index = built(case["items"], implementation)
    value: Any = case["value"]
    v = None
    if isinstance(value, tuple):
        v = leaf(value, implementation, 7.0, case["value_grad"])
        value = v * 2
    y[index] = value
    seen = told(y)
    seen["base"] = numbers(y._base) if y._is_view() else None
    if y.requires_grad:
        sources = [t for t in (x, v) if t is not None and t.requires_grad]
        grads = implementation.autograd.grad(
            weighted(y, implementation), sources, allow_unused=True
        )
        seen["gradients"] = [numbers(g) for g in grads]
    return seen


def outcome(what: Any, case: dict[str, Any], implementation: ModuleType) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return what(case, implementation)
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            return type(error).__name__, str(error)


def value_for(rng: random.Random, case: dict[str, Any]) -> Any:
    """A number, or the shape of a tensor that mostly fits where the case writes."""
    if rng.random() < 0.3:
        return rng.choice((5.5, 3, True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target = LAYOUTS[case["layout"]](leaf(case["shape"], torch, 1.0, False))
            shape = list(target[built(case["items"], torch)].shape)
        except (IndexError, RuntimeError, TypeError, ValueError):
            return ()
    for d in range(len(shape)):
        if rng.random() < 0.25:
            shape[d] = 1
    shape = shape[rng.randint(0, len(shape)) :] if rng.random() < 0.4 else shape
    if rng.random() < 0.1:
        shape = [1, *shape]
    if rng.random() < 0.05:
        shape = [*shape, 3]
    return tuple(shape)


def repeats_a_place(case: dict[str, Any]) -> bool:
    """Whether a write names a place twice: then PyTorch doesn't say which value stays."""
    x = torch.arange(float(np.prod(case["shape"]))).reshape(case["shape"])
    y = LAYOUTS[case["layout"]](x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = y[built(case["items"], torch)].reshape(-1).tolist()
        except (IndexError, RuntimeError, TypeError, ValueError):
            return False
    return len(set(found)) != len(found)


def cases(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    made: list[dict[str, Any]] = []
    for _ in range(CASES_PER_SEED):
        shape = shape_of(rng)
        case: dict[str, Any] = {"shape": shape, "layout": rng.choice(list(LAYOUTS))}
        seen = LAYOUTS[case["layout"]](torch.zeros(shape)).shape
        case["items"] = index_of(rng, tuple(seen))
        case["value"] = value_for(rng, case)
        case["grad"], case["value_grad"] = rng.random() < 0.6, rng.random() < 0.6
        made.append(case)
    return made


@pytest.mark.parametrize("seed", range(6))
def test_random_indices_read_the_same_elements_and_gradients(seed: int) -> None:
    for case in cases(seed):
        expected, found = outcome(reading, case, torch), outcome(reading, case, rushlight)
        assert found == expected, case


@pytest.mark.parametrize("seed", range(6))
def test_random_indices_write_the_same_elements_and_gradients(seed: int) -> None:
    for case in cases(seed + 100):
        if repeats_a_place(case):
            continue
        expected, found = outcome(writing, case, torch), outcome(writing, case, rushlight)
        assert found == expected, case
