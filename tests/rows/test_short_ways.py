"""Calls that have a short way give what the general one gives."""

import itertools

import pytest

import rushlight as torch


def test_a_dimension_that_is_moved_is_where_a_list_of_one_puts_it() -> None:
    x = torch.arange(24).reshape(2, 3, 4)
    for source, destination in itertools.product(range(-3, 3), repeat=2):
        made, general = x.movedim(source, destination), x.movedim((source,), (destination,))
        assert made.stride() == general.stride() and torch.equal(made, general)
    for wrong in ((3, 0), (0, 3), (-4, 0), (0, -4)):
        with pytest.raises(IndexError, match="Dimension out of range"):
            x.movedim(*wrong)
    number = torch.tensor(1)
    assert number.movedim(0, -1).shape == ()
    with pytest.raises(IndexError):
        number.movedim(1, 0)


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_what_follows_nothing_is_copied(dim: int) -> None:
    nothing = torch.tensor([])
    for x in (torch.randn(2, 3), torch.randn(3, 2).t(), torch.randn(2, 3, 4, 5).transpose(1, 2)):
        made = torch.cat([nothing, x], dim)
        assert torch.equal(made, x) and made.is_contiguous()
        assert made.data_ptr() != x.data_ptr()
    x = torch.ones(2, 3, requires_grad=True)
    torch.cat([nothing, x], dim).sum().backward()
    assert torch.equal(x.grad, torch.ones(2, 3))
    assert torch.cat([nothing, torch.ones(2, 3, dtype=torch.float64)], dim).dtype is torch.float64
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.cat([nothing, torch.ones(2, 3)], 2)
    assert torch.cat([nothing, torch.ones(0, 3)], dim).shape == (0, 3)


def test_an_index_that_takes_everything_is_a_view() -> None:
    x = torch.randn(2, 3, requires_grad=True)
    for index in ((slice(None), slice(0, None)), (slice(0, 9), ...), (...,), ()):
        part = x[index]
        assert part is not x and part._base is x and part.shape == x.shape
        assert part.grad_fn is not None and part.grad_fn.name() == "AliasBackward0"
        (found,) = torch.autograd.grad(part.sum(), x)
        assert torch.equal(found, torch.ones(2, 3))


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float64])
def test_numbers_are_written_in_place(dtype: torch.dtype) -> None:
    count = torch.tensor(3, dtype=dtype)
    version, place = count._version, count.data_ptr()
    count.add_(1)
    count += torch.tensor(2, dtype=dtype)
    count.mul_(2).sub_(1, alpha=3)
    assert count.item() == 9 and count.dtype is dtype
    assert count._version == version + 4 and count.data_ptr() == place
    count.add_(1 << 62)
    assert count.item() == torch.tensor(9, dtype=dtype).add(1 << 62).item()
