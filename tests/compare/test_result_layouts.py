"""Strides of results beside PyTorch's, for operands of all layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")
if torch is rushlight:
    pytest.skip("this is PyTorch's name", allow_module_level=True)

SHAPES = ((3, 4), (3, 4, 5), (2, 3, 4, 5))


def counted(t: Any, *shape: int) -> Any:
    size = 1
    for n in shape:
        size *= n
    return (t.arange(size) % 7).reshape(shape).to(t.float32) + 1


def layouts(t: Any) -> dict[str, Any]:
    """Tensors of one to four dimensions: in order, turned, cut, expanded, with channels last."""
    found = {"number": t.tensor(2.0), "five": counted(t, 5), "four": counted(t, 4)}
    for shape in SHAPES:
        n = len(shape)
        back = tuple(range(n))[::-1]
        turned = shape[::-1]
        found[f"plain{n}"] = counted(t, *shape)
        found[f"turned{n}"] = counted(t, *turned).permute(back)
        found[f"cut{n}"] = counted(t, *shape[:-1], shape[-1] * 2)[..., ::2]
        found[f"turned-cut{n}"] = counted(t, turned[0] * 2, *turned[1:])[::2].permute(back)
        found[f"expanded-first{n}"] = counted(t, 1, *shape[1:]).expand(shape)
        found[f"expanded-last{n}"] = counted(t, *shape[:-1], 1).expand(shape)
        found[f"expanded{n}"] = t.ones(()).expand(shape)
        found[f"row{n}"] = counted(t, 1, *shape[1:])
        found[f"column{n}"] = counted(t, *shape[:-1], 1)
    found["swapped"] = counted(t, 4, 3, 5).transpose(0, 1)
    for n in (1, 3):
        channels = counted(t, 2, n, 4, 5).contiguous(memory_format=t.channels_last)
        found[f"channels{n}"] = channels
    found["channels-cut"] = counted(t, 2, 6, 4, 5).contiguous(memory_format=t.channels_last)[:, :3]
    return found


THEIRS, OURS = layouts(torch), layouts(rushlight)
TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda t, a, b: a + b,
    "add into": lambda t, a, b: t.add(a, b, out=t.empty(0)),
    "add into doubles": lambda t, a, b: t.add(a, b, out=t.empty(0, dtype=t.float64)),
    "add in place": lambda t, a, b: a.clone().add_(b),
    "sub of twice": lambda t, a, b: t.sub(a, b, alpha=2),
    "rsub": lambda t, a, b: t.rsub(a, b),
    "rsub of twice": lambda t, a, b: t.rsub(a, b, alpha=2),
    "rsub of integers": lambda t, a, b: t.rsub(a.long(), b.long()),
    "rsub of doubles": lambda t, a, b: t.rsub(a, b.double()),
    "reflected": lambda t, a, b: a.__rsub__(b),
    "mul of doubles": lambda t, a, b: a * b.double(),
    "add integers": lambda t, a, b: a.long() + b,
    "and": lambda t, a, b: a.long() & b.long(),
    "less": lambda t, a, b: a < b,
    "pow": lambda t, a, b: a**b,
    "where": lambda t, a, b: t.where(a > 2, a, b),
    "where or one": lambda t, a, b: t.where(b > 2, a, 1.0),
    "maximum": lambda t, a, b: t.maximum(a, b),
    "clamp": lambda t, a, b: t.clamp(a, b),
    "lerp": lambda t, a, b: t.lerp(a, b, 0.5),
    "lerp by": lambda t, a, b: t.lerp(a, b, a),
    "addcmul": lambda t, a, b: t.addcmul(a, b, a),
    "addcdiv": lambda t, a, b: t.addcdiv(b, a, a),
    "masked_fill": lambda t, a, b: a.masked_fill(b > 2, 1.0),
    "cat": lambda t, a, b: t.cat([a, b], 0),
    "cat at the end": lambda t, a, b: t.cat([a, b], -1),
    "stack": lambda t, a, b: t.stack([a, b], 0),
    "stack at the end": lambda t, a, b: t.stack([a, b], -1),
    "hstack": lambda t, a, b: t.hstack([a, b]),
    "dstack": lambda t, a, b: t.dstack([a, b]),
    "kron": lambda t, a, b: t.kron(a, b),
}
ONE: dict[str, Callable[[Any, Any], Any]] = {
    "neg": lambda t, a: -a,
    "add one": lambda t, a: a + 1,
    "exp": lambda t, a: a.exp(),
    "to doubles": lambda t, a: a.double(),
    "clone": lambda t, a: a.clone(),
    "relu": lambda t, a: t.relu(a),
    "zeros_like": lambda t, a: t.zeros_like(a),
    "roll": lambda t, a: t.roll(a, 1, 0),
    "roll all": lambda t, a: t.roll(a, 1),
    "flip": lambda t, a: t.flip(a, (0,)),
    "take": lambda t, a: t.take(a, t.zeros_like(a).long()),
    "sum": lambda t, a: a.sum(0),
    "softmax": lambda t, a: t.softmax(a, 0),
    "masked_fill": lambda t, a: a.masked_fill(t.tensor(True), 1.0),
}


def laid_out(run: Callable[[], Any]) -> Any:
    """Shape and strides of a result, or that there is none."""
    try:
        made = run()
    except (RuntimeError, IndexError, ValueError):
        return "refused"
    return tuple(made.shape), made.stride()


def steps(found: Any) -> Any:
    """The same without the strides of single elements, which only count for who looks at them."""
    return found if found == "refused" else [(n, s) for n, s in zip(*found, strict=True) if n > 1]


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name: str) -> None:
    run = TWO[name]
    for a in THEIRS:
        for b in THEIRS:
            if name == "kron" and THEIRS[a].dim() != THEIRS[b].dim():
                continue
            theirs = laid_out(lambda a=a, b=b: run(torch, THEIRS[a], THEIRS[b]))  # type: ignore[misc]
            ours = laid_out(lambda a=a, b=b: run(rushlight, OURS[a], OURS[b]))  # type: ignore[misc]
            if theirs != "refused":  # what is refused is looked at elsewhere
                assert steps(ours) == steps(theirs), (a, b)


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name: str) -> None:
    run = ONE[name]
    for a in THEIRS:
        theirs = laid_out(lambda a=a: run(torch, THEIRS[a]))  # type: ignore[misc]
        ours = laid_out(lambda a=a: run(rushlight, OURS[a]))  # type: ignore[misc]
        assert steps(ours) == steps(theirs), a
