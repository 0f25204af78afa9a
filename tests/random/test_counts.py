"""Poisson and binomial numbers: the emitted code draws what the plain loop draws."""

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.random import rejection
from rushlight._array.random.mt19937 import Stream

pytestmark = pytest.mark.skipif(not kernels.is_llvmlite_here(), reason="llvmlite is not installed")


def columns(kind: str, n: int) -> tuple[np.ndarray, int]:
    odds = np.random.RandomState(3).rand(n)
    if kind == "poisson":
        rates = odds * 30
        rates[::5] = 0
        return rates.reshape(1, -1), 0
    if kind == "binomial":
        counts = np.floor(odds[::-1] * 80) + 1
        return rejection._binomial_columns(counts, odds / 2), 2
    return np.stack([np.zeros(n), odds * 3, 1 / np.sqrt(27 * odds)]), 2


@pytest.mark.parametrize("kind", ["poisson", "binomial", "gamma"])
@pytest.mark.parametrize("n", [1, 100, 3000])
def test_code_draws_what_the_loop_draws(kind: str, n: int) -> None:
    known, least = columns(kind, n)
    quick, slow = Stream(n), Stream(n)
    for stream in (quick, slow):
        stream.words(7)
    found = kernels.rejection.fill(quick, kind, known, least)
    source, one = rejection._Source(slow), rejection._ONE[kind]
    expected = [one(*items, source) for items in zip(*known.tolist(), strict=True)]
    assert found is not None and found.tolist() == expected
    assert (quick.get_state() == slow.get_state()).all()


def test_counts_of_half_precision_are_refused() -> None:
    count = torch.full((2,), 4.0, dtype=torch.float16)
    with pytest.raises(NotImplementedError, match="\"binomial_cpu\" not implemented for 'Half'"):
        torch.binomial(count, count / 8)


def test_what_is_certain_takes_no_words() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    count, odds = torch.tensor([0.0, 5.0, 5.0]), torch.tensor([0.5, 0.0, 1.0])
    assert torch.binomial(count, odds).tolist() == [0, 0, 5]
    assert torch.poisson(torch.zeros(4)).tolist() == [0, 0, 0, 0]
    assert torch.equal(torch.get_rng_state(), before)


def test_large_single_counts_are_worked_out_in_single_precision() -> None:
    torch.manual_seed(10000000)
    drawn = torch.binomial(torch.full((8,), 1e7), torch.full((8,), 0.3))
    assert drawn[7] == 2999705
