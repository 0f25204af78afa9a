"""`scatter_` writes what `scatter` gives, and larger arrays are added to as small ones are."""

from typing import Any

import numpy as np
import pytest

import rushlight as torch


def _operands(shape: tuple[int, ...], dim: int, dtype: Any, seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.integers(-9, 9, shape)).to(dtype)
    src = torch.from_numpy(rng.integers(-9, 9, shape)).to(dtype)
    index = torch.from_numpy(rng.integers(0, shape[dim], shape))
    return x, index, src


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32,
                                   torch.float16, torch.bool, torch.complex64])  # fmt: skip
@pytest.mark.parametrize(
    ("shape", "dim"), [((4, 4), 1), ((100, 100), 1), ((100, 100), 0), ((5, 6, 7), 1), ((9000,), 0),
                       ((3, 40_000), 1)]
)  # fmt: skip
def test_it_writes_what_scatter_gives(shape: tuple[int, ...], dim: int, dtype: Any) -> None:
    x, index, src = _operands(shape, dim, dtype)
    part = tuple(slice(0, max(1, n - 1)) for n in shape)
    for at, given in (
        (index, src), (index, 1), (index[part], src), (index[part], src[part]), (index.int(), src),
        (index, src.flip(0)), (index, src[:1].expand(shape)), (index[:0], src), (index, True),
    ):  # fmt: skip
        wanted = x.scatter(dim, at, given)
        mine = x.clone()
        version = mine._version
        assert mine.scatter_(dim, at, given) is mine
        assert torch.equal(mine, wanted) and mine._version > version
        turned = x.transpose(0, -1).contiguous().transpose(0, -1)
        assert torch.equal(turned.scatter_(dim, at, given), wanted)
        wide = torch.zeros((*shape[:-1], 2 * shape[-1]), dtype=dtype)[..., ::2]
        wide.copy_(x)
        assert torch.equal(wide.scatter_(dim, at, given), wanted)


def test_operands_of_one_memory() -> None:
    x = torch.arange(100).reshape(10, 10) % 10
    wanted = x.clone().scatter(1, x.clone(), x.clone())
    with pytest.raises(RuntimeError, match="memory"):
        torch.equal(x.scatter_(1, x, x), wanted)
    y = torch.arange(20_000).reshape(2, 10_000)
    src, index = y[:1], torch.randint(0, 10_000, (1, 10_000))
    wanted = y.clone().scatter(1, index, src.clone())
    try:
        assert torch.equal(y.scatter_(1, index, src), wanted)
    except RuntimeError as error:
        assert "memory" in str(error)


def test_an_index_outside_is_refused() -> None:
    for wrong in (100, -1, 1 << 62, -(1 << 63)):
        x, index, src = _operands((100, 100), 1, torch.float32)
        index[50, 3] = wrong
        version, before = x._version, x.clone()
        for given in (src, 2.0):
            with pytest.raises(RuntimeError, match="out of bounds"):
                x.scatter_(1, index, given)
        assert x._version == version and torch.equal(x, before)
        with pytest.raises(RuntimeError):
            x.scatter_(1, index.float(), src)
    x, index, src = _operands((100, 100), 1, torch.float32)
    for at, given in ((index, src.double()), (index, src[:50]), (index[0], src)):
        with pytest.raises(RuntimeError):
            x.scatter_(1, at, given)
    with pytest.raises(IndexError):
        x.scatter_(2, index, src)


def test_gradients_of_what_is_written() -> None:
    x, index, src = _operands((100, 100), 1, torch.float32)
    index = torch.argsort(torch.rand(100, 100), 1)[:, :60].contiguous()  # each place once
    a, b = x.clone().requires_grad_(), src.clone().requires_grad_()
    y = a * 1
    y.scatter_(1, index, b)
    (y * src).sum().backward()
    inside = torch.zeros(100, 100).scatter(1, index, 1.0).bool()
    assert torch.equal(a.grad, torch.where(inside, torch.zeros(()), src))
    assert torch.equal(b.grad[:, :60], src.gather(1, index))
    with pytest.raises(RuntimeError, match="leaf"):
        a.scatter_(1, index, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(100, 1), (50, 50), (100, 99), (1, 100), (99, 100)])
def test_additions_at_places_of_parts(shape: tuple[int, int], dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x, src = (torch.from_numpy(rng.standard_normal((100, 100))).to(dtype) for _ in range(2))
    for dim in (0, 1):
        index = torch.from_numpy(rng.integers(0, 100, shape))
        wanted = x.numpy().copy()
        rows, columns = np.indices(shape)
        places = (index.numpy(), columns) if dim == 0 else (rows, index.numpy())
        np.add.at(wanted, places, src.numpy()[: shape[0], : shape[1]])
        found = x.scatter_add(dim, index, src)
        torch.testing.assert_close(found, torch.from_numpy(wanted))
        with pytest.raises(RuntimeError, match="out of bounds"):
            x.scatter_add(dim, index + 100, src)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("rows", [1, 100, 4096, 4097])
def test_losses_of_many_classes(rows: int, reduction: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.standard_normal((rows, 100))).to(dtype).requires_grad_()
    target = torch.from_numpy(rng.integers(0, 100, rows))
    found = torch.nn.functional.nll_loss(x, target, reduction=reduction)
    picked = -x.detach().gather(1, target[:, None])[:, 0]
    wanted = picked if reduction == "none" else getattr(picked.double(), reduction)().to(dtype)
    torch.testing.assert_close(found.detach(), wanted)
    found.sum().backward()
    scale = 1 / rows if reduction == "mean" else 1
    assert x.grad is not None
    torch.testing.assert_close(
        x.grad, torch.zeros_like(x).scatter(1, target[:, None], -scale).detach()
    )
    target[0] = 100
    with pytest.raises(IndexError):
        torch.nn.functional.nll_loss(x, target)
