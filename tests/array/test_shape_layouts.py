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
