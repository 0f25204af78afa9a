"""Sequences of several lengths as one batch: the short way and the recorded one."""

from typing import Any

import pytest

import rushlight as torch
from rushlight.nn.utils.rnn import pad_sequence


def sequences(dtype: Any, *sizes: int) -> list[Any]:
    return [
        torch.arange(n * 6).reshape(n, 6)[:, ::2].to(dtype).reshape(n, *sizes) for n in (3, 0, 5, 1)
    ]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64])
@pytest.mark.parametrize("sizes", [(3,), (1, 3), (3, 1, 1)])
def test_each_sequence_is_at_its_side(
    sizes: tuple[int, ...], dtype: Any, batch_first: bool, side: str
) -> None:
    given = sequences(dtype, *sizes)
    found = pad_sequence(given, batch_first, 1, side)
    assert found.dtype == dtype and found.is_contiguous()
    for k, one in enumerate(given):
        row = found[k] if batch_first else found[:, k]
        n = len(one)
        inside, outside = (row[:n], row[n:]) if side == "right" else (row[5 - n :], row[: 5 - n])
        assert torch.equal(inside, one)
        assert torch.equal(outside, torch.ones(5 - n, *sizes).to(dtype))


def test_sequences_that_are_recorded_get_their_gradients() -> None:
    leaf = torch.ones(2, 3, requires_grad=True)
    given = [leaf, torch.zeros(4, 3), leaf * 2]
    found = pad_sequence(given, True)
    assert torch.equal(found.detach(), pad_sequence([x.detach() for x in given], True))
    found.sum().backward()
    assert torch.equal(leaf.grad, torch.full((2, 3), 3.0))


def test_other_types_are_converted_and_other_sizes_refused() -> None:
    found = pad_sequence([torch.ones(2), torch.tensor([3, 4, 5])], True)
    assert found.dtype == torch.float32 and found.tolist() == [[1, 1, 0], [3, 4, 5]]
    with pytest.raises(RuntimeError):
        pad_sequence([torch.ones(2, 3), torch.ones(2, 4)])
