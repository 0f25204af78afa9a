"""Floats beside booleans and integers on the fast path: what the slow one gives."""

import itertools
from typing import Any

import pytest

import rushlight as torch
from rushlight._core import apply, slow
from rushlight._core.mode import current
from rushlight._table import ROWS

NAMES = ("add", "sub", "mul", "div", "pow", "maximum", "fmod", "remainder", "atan2", "eq", "lt",
         "ge", "logical_and", "copysign", "hypot", "xlogy", "ldexp", "float_power", "bitwise_and",
         "floor_divide", "nextafter", "heaviside", "logaddexp", "minimum", "ne")  # fmt: skip
OPS = [row.simple_op for name in NAMES for row in ROWS.get(name, ()) if row.simple_op is not None]


def _operands() -> list[Any]:
    whole = torch.tensor([[1, -2, 3], [0, 5, 1 << 40]])
    return [
        torch.tensor([[0.5, -1.5, 2.0], [3.0, float("nan"), float("inf")]]),
        torch.tensor([[0.5, -1.5, 2.0], [3.0, 0.25, -0.0]], dtype=torch.float64),
        torch.tensor(1.5), torch.tensor(2.5, dtype=torch.float64), torch.tensor([0.5, 1.5, -2.5]),
        whole, whole > 0, torch.tensor(3), torch.tensor(True), whole.t().contiguous().t(),
        torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).t(), whole.int(), whole[:, :1],
        torch.tensor([1, 2, 3, 4]), torch.ones(0, 3), torch.ones(0, 3, dtype=torch.int64),
        torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(2, 3, dtype=torch.complex64),
        torch.tensor([[[1]]]), torch.tensor([[[0.5]]]),
    ]  # fmt: skip


def _told(run: Any, op: Any, a: Any, b: Any) -> object:
    try:
        found = run(op, a, b)
    except Exception as error:
        return type(error), str(error)
    return found.dtype, found.shape, found.stride(), found._raw.tobytes()


@pytest.mark.filterwarnings("ignore")
def test_results_are_those_of_the_slow_path() -> None:
    assert len(OPS) > 15
    for a, b in itertools.product(_operands(), repeat=2):
        for op in OPS:
            if len(op.tensors) == 2 and a.dtype is not b.dtype:
                quick = _told(apply.apply2, op, a, b)
                assert quick == _told(lambda op, a, b: slow.apply(op, [a, b]), op, a, b), (op, a, b)


def test_what_is_recorded_is_what_it_was() -> None:
    mask = torch.tensor([True, False, True])
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for product in (x * mask, mask * x):
        assert type(product.grad_fn).__name__ == "MulBackward0"
        (grad,) = torch.autograd.grad(product.sum(), x)
        assert grad.tolist() == [1.0, 0.0, 1.0]
    part = x[:2]
    assert (part * torch.tensor(2)).requires_grad and (torch.tensor(2) * part).requires_grad
    with torch.no_grad():
        assert not (x * mask).requires_grad and (x * mask).tolist() == [1, 0, 3]
    with torch.inference_mode():
        assert (x.detach() * mask).is_inference()
    assert (x.detach() / torch.tensor(2)).dtype is torch.float32
    assert not current().slow


def test_whoever_watches_sees_unlike_operands() -> None:
    x, mask = torch.ones(3), torch.tensor([True, False, True])
    seen: list[str] = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> object:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Watch():
        assert (x * mask).tolist() == [1, 0, 1]
    assert seen == ["aten.mul.Tensor"]
    mapped = torch.func.vmap(lambda m: x * m)(torch.stack([mask, ~mask]))
    assert mapped.tolist() == [[1, 0, 1], [0, 1, 0]]
    grads = torch.func.grad(lambda t: (t * mask).sum())(x)
    assert grads.tolist() == [1, 0, 1]
    out = torch.func.jvp(lambda t: t * mask, (x,), (x * 2,))
    assert out[1].tolist() == [2, 0, 2]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (x * mask).dtype is torch.float32

    class Own(torch.Tensor):
        pass

    assert type(x.as_subclass(Own) * mask) is Own and type(x * mask.as_subclass(Own)) is Own
