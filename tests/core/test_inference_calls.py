"""Operations in inference mode: what they give without it, marked, and the same errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

Call = Callable[..., Any]
CALLS: dict[str, Call] = {
    "add": lambda x, y: x + y,
    "alpha": lambda x, y: torch.add(x, y, alpha=2),
    "number": lambda x, y: x * 2 + 1.5,
    "numbers first": lambda x, y: 2 - x / 3,
    "power": lambda x, y: x**2,
    "integers": lambda x, y: x.long() + y.long(),
    "an integer and a float": lambda x, y: x.long() * 2.5,
    "a quotient of integers": lambda x, y: x.long() / 4,
    "two types": lambda x, y: x + y.double(),
    "no dimensions": lambda x, y: x + torch.tensor(2.0, dtype=torch.float64),
    "comparison": lambda x, y: (x > y) & (x < 1),
    "choice": lambda x, y: torch.where(x > 0, x, y),
    "bounds": lambda x, y: x.clamp(-0.5, 0.5),
    "NumPy's number": lambda x, y: x * np.float64(3),
    "sum": lambda x, y: x.sum(0, keepdim=True),
    "largest": lambda x, y: tuple(x.max(1)),
    "few": lambda x, y: tuple(torch.topk(x, 2)),
    "product": lambda x, y: x @ y.T,
    "layer": lambda x, y: torch.nn.functional.linear(x, y, y[:, 0]),
    "joined": lambda x, y: torch.cat([x, y]),
    "stacked": lambda x, y: torch.stack((x, y), 1),
    "joined types": lambda x, y: torch.cat([x, y.double()]),
    "looked up": lambda x, y: x[torch.tensor([0, 2]), torch.tensor([1, 1])],
    "masked": lambda x, y: x[y > 0],
    "gathered": lambda x, y: x.gather(1, (y > 0).long()),
    "classes": lambda x, y: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 2])),
    "softmax": lambda x, y: torch.softmax(x, -1),
    "norm": lambda x, y: torch.nn.functional.layer_norm(x, (4,), y[0], None),
    "halves": lambda x, y: x.half() + y.half() * 2,
    "complex": lambda x, y: torch.complex(x, y).abs(),
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "written": lambda x, y: (x + 1).mul_(y).add_(2),
    "turned": lambda x, y: x.T + y.T,
    "view": lambda x, y: x.T.reshape(2, 6)[:, None],
    "pieces": lambda x, y: (x + y).split(2, 1),
    "no elements": lambda x, y: x[:0] + y[:0],
}


def parts(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def operands(kind: str) -> tuple[Any, Any]:
    torch.manual_seed(0)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    if kind == "leaf":
        x.requires_grad_()
    elif kind == "parameter":
        x = torch.nn.Parameter(x)
    elif kind == "view":
        x = torch.randn(4, 3).requires_grad_().T
    return x, y


@pytest.mark.parametrize("kind", ["plain", "leaf", "parameter", "view", "inference"])
@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_no_grad_and_marked(name: str, kind: str) -> None:
    x, y = operands(kind)
    with torch.no_grad():
        wanted = parts(CALLS[name](x, y))
    with torch.inference_mode():
        if kind == "inference":
            x, y = x * 1, y * 1
            assert x.is_inference() and not x.requires_grad
        found = parts(CALLS[name](x, y))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
        assert torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(), b.nan_to_num())
        assert not a.requires_grad or a._base is not None
        assert a.is_inference() or a._base is not None


def test_errors_are_the_same() -> None:
    x, y = torch.ones(3, 4), torch.ones(5)
    wrong: list[Call] = [
        lambda: x + y, lambda: x @ y, lambda: torch.cat([x, y]), lambda: x[torch.tensor([7])],
        lambda: x.sum(4), lambda: x.reshape(5), lambda: torch.softmax(x, 3),
    ]  # fmt: skip
    for call in wrong:
        with pytest.raises(Exception) as outside:
            call()
        with torch.inference_mode(), pytest.raises(outside.type) as inside:
            call()
        assert str(inside.value) == str(outside.value)


def test_marked_results_stay_out_of_graphs() -> None:
    with torch.inference_mode():
        x = torch.ones(3) * 2
        view = x[:2]
        assert view.is_inference()
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        w * x
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.add_(1)


def test_other_modes_are_still_asked() -> None:
    from rushlight.overrides import TorchFunctionMode

    seen: list[str] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = torch.ones(3)
    with torch.inference_mode(), Watch():
        x.exp()
    assert seen == ["exp"]
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    with torch.inference_mode():
        found = torch.func.vmap(lambda row: row.sum())(torch.ones(2, 3))
        assert found.tolist() == [3, 3]
        tangent = torch.func.jvp(torch.sin, (x,), (x,))[1]
        assert torch.equal(tangent, x.cos())
