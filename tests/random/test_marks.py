"""A stream goes back to a mark, however much has been drawn since."""

import pytest

import rushlight as torch


@pytest.mark.parametrize("before", [0, 1, 7, 16, 623, 624, 625, 1300])
@pytest.mark.parametrize("between", [0, 1, 5, 16, 100, 624, 700, 5000])
def test_a_stream_goes_back_to_a_mark(before: int, between: int) -> None:
    generator = torch.Generator().manual_seed(before + 1)
    torch.rand(before, generator=generator)
    torch.randn(before % 5, generator=generator)
    stream = generator.stream
    state = generator.get_state()
    mark = stream.mark()
    torch.rand(between, generator=generator)
    torch.randn(between, generator=generator)
    torch.randperm(3, generator=generator)
    stream.back(mark)
    assert torch.equal(generator.get_state(), state)
    after = torch.randn(1500, generator=generator), torch.rand(3, generator=generator)
    other = torch.Generator()
    other.set_state(state)
    assert torch.equal(after[0], torch.randn(1500, generator=other))
    assert torch.equal(after[1], torch.rand(3, generator=other))


def test_a_mark_may_be_used_more_than_once() -> None:
    generator = torch.Generator().manual_seed(3)
    torch.rand(10, generator=generator)
    mark = generator.stream.mark()
    draws = []
    for _ in range(3):
        generator.stream.back(mark)
        draws.append(torch.rand(2000, generator=generator))
    assert torch.equal(draws[0], draws[1])
    assert torch.equal(draws[0], draws[2])
