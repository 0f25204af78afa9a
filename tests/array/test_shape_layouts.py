"""How joined, rolled and gathered arrays are laid out: channels last where all sources are."""

import pytest

import rushlight as torch

BASE = torch.arange(240.0).reshape(2, 6, 4, 5).contiguous(memory_format=torch.channels_last)
PLAIN = torch.arange(120.0).reshape(2, 3, 4, 5)
LAST = PLAIN.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("other", [LAST, BASE[:, ::2]], ids=["dense", "part"])
def test_what_has_its_channels_last_is_joined_so(other: torch.Tensor) -> None:
    assert torch.cat([LAST, other], 1).stride() == (120, 1, 30, 6)
    assert torch.stack([LAST, other]).stride() == (120, 60, 1, 15, 3)
    assert torch.stack([LAST, other], 1).stride() == (120, 3, 1, 30, 6)
    assert torch.stack([LAST, other], 1)[:, 1].tolist() == other.tolist()
    assert torch.roll(other, 1, 2).stride() == (60, 1, 15, 3)
    assert torch.roll(other, 1, 2)[:, :, 1].tolist() == other[:, :, 0].tolist()


def test_all_else_is_in_the_usual_order() -> None:
    turned = torch.arange(120.0).reshape(5, 4, 3, 2).permute(3, 2, 1, 0)
    for other in (PLAIN, turned, LAST[:1].expand(2, 3, 4, 5)):
        assert torch.cat([LAST, other]).stride() == (60, 20, 5, 1)
        assert torch.stack([LAST, other]).is_contiguous()
    assert torch.roll(turned, 1, 0).is_contiguous()
    for x in (LAST, turned):
        assert torch.gather(x, 1, (x * 0).long()).is_contiguous()


def test_five_dimensions_have_a_channels_last_too() -> None:
    x = torch.ones(2, 3, 2, 2, 2).contiguous(memory_format=torch.channels_last_3d)
    assert torch.cat([x, x]).is_contiguous(memory_format=torch.channels_last_3d)
    assert torch.roll(x, 1, 0).is_contiguous(memory_format=torch.channels_last_3d)


@pytest.mark.parametrize(
    ("at", "strides"),
    [
        ((), (24, 1, 4, 12)),
        ((slice(None),), (1, 15, 5, 30)),
        ((slice(None), slice(None)), (1, 10, 5, 40)),
        ((slice(0, 1),), (12, 6, 1, 3)),
        ((None,), (48, 24, 1, 4, 12)),
    ],
)
def test_what_is_indexed_keeps_the_order_of_its_memory(
    at: tuple[object, ...], strides: tuple[int, ...]
) -> None:
    turned = torch.arange(120.0).reshape(2, 3, 4, 5).permute(3, 2, 1, 0)
    places = torch.tensor([1, 0])
    found = turned[(*at, places)]
    assert found.stride() == strides
    assert found.tolist() == turned.contiguous()[(*at, places)].tolist()


def test_indices_that_lie_apart_come_first_in_memory() -> None:
    turned = torch.arange(120.0).reshape(2, 3, 4, 5).permute(3, 2, 1, 0)
    assert turned[torch.tensor([0, 1]), :, torch.tensor([1, 0])].stride() == (8, 1, 4)


@pytest.mark.parametrize("places", [[0, 1, 1], [True, False, True] + [False] * 5])
def test_a_large_batch_is_indexed_in_the_order_of_its_memory(places: list[int]) -> None:
    last = torch.rand(8, 7, 11, 9).contiguous(memory_format=torch.channels_last).requires_grad_()
    found = last[torch.tensor(places)]
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert found.tolist() == last.detach().contiguous()[torch.tensor(places)].tolist()
    found.sum().backward()
    assert float(last.grad[0, 0, 0, 0]) == 1.0


def test_an_index_that_is_turned_turns_the_result() -> None:
    places = torch.arange(6).reshape(2, 3).T
    assert torch.arange(6.0)[places].stride() == (1, 3)
