"""Short ways for few elements, or for one number, beside the general ways: equal to the bit."""

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.nn import attention
from rushlight._array.reduce import sort
from rushlight._array.shape import rearrange


def test_attention_of_few_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    taken = 0
    for turn in range(600):
        heads = tuple(rng.integers(1, 4, rng.integers(1, 3)))
        length, keys, size, width = rng.integers(1, 20, 4)
        q, k, v = (
            rng.standard_normal((*heads, *shape)).astype(("f4", "f8")[turn % 2])
            for shape in ((length, size), (keys, size), (keys, width))
        )
        if turn % 9 == 0:
            q.flat[0] = (np.nan, np.inf, -np.inf)[turn // 9 % 3]
        if turn % 7 == 0:
            k = np.repeat(k, 2, -1)[..., ::2]
        args: Any = (q, k, v, None, False, (None, 0.5, 0.0, -1.0)[turn % 4], bool(turn % 3))
        with np.errstate(all="ignore"):
            taken += attention._attend_few(q, k, v, args[5]) is not None
            short = attention.attention(*args)
            with monkeypatch.context() as patch:
                patch.setattr(attention, "_FEW", -1)
                whole = attention.attention(*args)
        for a, b in zip(short, whole, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype and a.strides == b.strides
            assert a.tobytes() == b.tobytes()
    assert taken > 300


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_ranks_of_one_quantile(how: str) -> None:
    rng = np.random.default_rng(0)
    for turn in range(400):
        x = rng.standard_normal(rng.integers(1, 6, rng.integers(1, 4)))
        x = np.sort(x.astype(("f4", "f8")[turn % 2]), -1)
        if turn % 5 == 0:
            x[..., -1].flat[0] = np.nan
        q = np.asarray((0, 1, 0.5, 1 / 3, rng.random())[turn % 5 if turn % 3 else 4], x.dtype)
        for a, b in zip(sort.ranks(x, q, how, False), sort.ranks(x, q[None], how, False)):
            assert (a is None) is (b is None)
            if b is not None:
                assert (np.broadcast_to(np.asarray(a, b.dtype), b.shape) == b).all()


def test_quantiles_of_numbers_are_those_of_tensors_and_have_gradients() -> None:
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.float64):
        x = torch.randn(5, 7, dtype=dtype)
        for q in (0, 0.3, 0.5, 1.0):
            for dim in (None, 0, -1):
                number = torch.quantile(x, q, dim)
                assert torch.equal(number, torch.quantile(x, torch.tensor(q, dtype=dtype), dim))
                y = x.clone().requires_grad_()
                made = torch.quantile(y, q, dim)
                assert torch.equal(made.detach(), number)
                made.sum().backward()
                assert y.grad is not None
                assert torch.allclose(y.grad.sum(), torch.tensor(number.numel(), dtype=dtype))
        rows = torch.func.vmap(lambda row: torch.quantile(row, 0.3))(x)
        assert torch.equal(rows, torch.quantile(x, 0.3, 1))
    for odd in (torch.ones(3, dtype=torch.int64), torch.ones(3, dtype=torch.bfloat16)):
        with pytest.raises(RuntimeError, match="either float or double"):
            torch.quantile(odd, 0.5)


def test_traces_that_read_few_of_many_elements() -> None:
    rng = np.random.default_rng(0)
    for shape in ((45, 46), (100, 100), (300, 7), (1000, 1001)):
        for dtype in ("f4", "f8"):
            x = rng.standard_normal(shape).astype(dtype)
            t = torch.from_numpy(x)
            assert torch.trace(t).item() == float(rearrange.trace(x))
